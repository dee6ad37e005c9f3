import { expect, it } from 'vitest'
import { appAt } from '../../../../test/fixtures/app-stage.js'

const minute = 60_000

it('rota doctor names sensors that fail, with their errors', async () => {
  const { app, pass } = appAt(Date.UTC(2026, 0, 5))
  app.job('work', () => undefined)
  const poll = (): never => {
    throw new Error('no bucket')
  }
  app.sensors.define('s', {
    sensor: { init: () => ({ kind: 'ok' as const, state: null }), poll },
    job: 'work',
    every: '1m',
  })
  await app.start()
  await pass(3 * minute)
  expect((await app.doctor()).filter(({ check }) => check === 'sensors')).toMatchObject([
    {
      level: 'warn',
      message: expect.stringMatching(/sensor s is failing, \d failures? in a row: .*no bucket/) as unknown,
    },
  ])
})
