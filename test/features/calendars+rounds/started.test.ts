import { expect, it } from 'vitest'
import { appAt } from '../../fixtures/app-stage.js'

const hour = 3_600_000
const friday = Date.parse('2026-01-09T00:00:00Z')

it('a round that is started at run time checks in its calendars, also after a restart', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  app.calendars.define('weekend', { weekdays: ['sat', 'sun'] })
  await app.start()
  const calendar = { exclude: 'weekend' }
  const blackouts = [{ from: '2026-01-09T06:00', to: '2026-01-09T12:00', note: 'works' }]
  await app.rounds.start('r', { every: '6h', services: ['work'], calendar, blackouts })
  const rulesOf = async () => (await app.triggers.get('r')).trigger.schedule.calendar
  const rules = await rulesOf()
  expect(rules).toMatchObject({ exclude: [{ name: 'weekend' }], blackouts: [{ note: 'works' }] })
  await app.rounds.stop('r')
  await app.rounds.start('r')
  expect(await rulesOf()).toEqual(rules)
  await pass(72 * hour)
  const [coverage] = await app.coverage()
  expect(coverage).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
  expect(coverage?.explained).toMatchObject({ calendar: 8, blackout: 1 })
  await expect(app.rounds.start('r', { calendar: { exclude: 'holidays' } })).rejects.toThrow('holidays')
  await app.rounds.start('r', { blackouts })
  expect(await rulesOf()).not.toHaveProperty('exclude')
})

it('a round that is started at run time has the blackouts of the app, in addition to its own', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  app.calendars.blackout({ from: '2026-01-09T06:00', to: '2026-01-09T12:00', note: 'year end' })
  await app.start()
  await app.rounds.start('r', { every: '6h', services: ['work'] })
  await pass(24 * hour)
  const [coverage] = await app.coverage()
  expect(coverage).toMatchObject({ unexplainedCount: 0, explained: { blackout: 1 } })
  const own = { from: '2026-02-01', to: '2026-02-02', note: 'works' }
  await app.rounds.start('r', { blackouts: [own] })
  const { schedule } = (await app.triggers.get('r')).trigger
  expect(schedule.calendar?.blackouts?.map(({ note }) => note)).toEqual(['works', 'year end'])
})
