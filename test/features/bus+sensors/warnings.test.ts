import { expect, test } from 'vitest'
import { appAt } from '../../fixtures/app-stage.js'
import { hearWarnings } from '../../fixtures/warnings.js'

test('F9: many sensors and many subscriptions cause no warning of Node', async () => {
  const { app, pass } = appAt(Date.UTC(2026, 0, 5))
  const heard = hearWarnings()
  app.job('load', () => undefined)
  for (let i = 0; i < 30; i++) {
    const poll = (): Promise<never> => new Promise(() => undefined)
    app.sensors.define(`s${i}`, { sensor: { init: () => ({ kind: 'ok', state: null }), poll }, job: 'load' })
    app.bus.subscribe({ jobs: ['load'], take: () => undefined })
  }
  await app.start()
  await pass(1000)
  const stopped = app.stop({ grace: 0 })
  await pass(60_000)
  await stopped
  await heard.settled()
  expect(heard.warnings).toEqual([])
})
