import { expect, it } from 'vitest'
import { appAt } from '../../../../test/fixtures/app-stage.js'

it('a simulation leaves a sensor out, with the reason', async () => {
  const { app } = appAt(Date.UTC(2026, 0, 5))
  app.job('work', () => undefined)
  app.sensors.define('files', {
    job: 'work',
    sensor: { poll: async () => ({ kind: 'nothing' }) } as never,
  })
  const { leftOut } = await app.simulate()
  expect(leftOut).toEqual([{ trigger: 'files', why: 'a sensor waits for external events' }])
})
