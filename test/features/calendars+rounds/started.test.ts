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
