import { expect, it } from 'vitest'
import { appAt } from '../../fixtures/app-stage.js'

const minute = 60_000
const friday = Date.parse('2026-01-09T00:00:00Z')

it('blackouts of the app apply to rounds and sensors', async () => {
  const { app, pass } = appAt(friday)
  let polls = 0
  app.job('work', () => undefined)
  app.calendars.blackout({ from: '2026-01-09T00:30', to: '2026-01-09T02:00', note: 'works' })
  app.rounds.define('round', { every: '10m', services: ['work'] })
  const found = { kind: 'ok', state: null } as const
  app.sensors.define('watch', {
    sensor: { init: () => found, poll: () => (polls++, found) },
    job: 'work',
    every: '10m',
  } as never)
  await app.start()
  await pass(31 * minute)
  const before = polls
  await pass(80 * minute)
  expect(polls).toBe(before)
  const since = new Date(friday + 30 * minute)
  expect(await app.runs.list({ trigger: 'round', since, limit: 100 })).toEqual([])
  await pass(60 * minute)
  expect(polls).toBeGreaterThan(before)
  expect((await app.runs.list({ trigger: 'round', since })).length).toBeGreaterThan(2)
  for (const coverage of await app.coverage())
    expect(coverage).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
})
