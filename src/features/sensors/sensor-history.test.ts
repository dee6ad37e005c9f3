import { afterEach, expect, test } from 'vitest'
import type { Sensor } from './sensor.js'
import { FakeClock, settled } from '../../testing/fake-clock.js'
import { rota, type Rota } from '../../app/rota.js'

let opened: Rota | undefined

afterEach(async () => {
  await opened?.close()
  opened = undefined
})

test('F4: a preview that finds only known observations would trigger nothing', async () => {
  const { app, pass } = open()
  app.job('load', () => undefined)
  app.sensors.define('s', { sensor: listing, job: 'load' })
  expect(await app.sensors.preview('s')).toMatchObject({ kind: 'trigger' })
  await app.start()
  await pass(1000)
  expect(await app.sensors.preview('s')).toMatchObject({
    kind: 'no-trigger',
    reason: 'everything found was seen before',
    observations: [{ isNew: false }],
  })
})

test('F9: the polls of one sweep that find nothing are one line of the history', async () => {
  const { app, pass } = open()
  app.job('load', () => undefined)
  const sweep: Sensor<undefined, number> = {
    init: () => ({ kind: 'ok', state: 0 }),
    poll: (state) => {
      const more = state % 5 < 4
      const reason = `${more ? 'under way' : 'nothing new'}: ${(state % 5) + 1} looked at`
      return { kind: 'no-trigger', state: state + 1, reason, more }
    },
  }
  app.sensors.define('s', { sensor: sweep, job: 'load' })
  await app.start()
  await pass(1000)
  expect(await app.sensors.history('s')).toMatchObject([
    { number: 1, count: 5, reason: 'nothing new: 5 looked at' },
  ])
  await pass(30_000)
  expect(await app.sensors.history('s')).toMatchObject([{ number: 2, count: 5 }, { number: 1 }])
})

function open(): { app: Rota; pass: (ms: number) => Promise<void> } {
  const clock = new FakeClock(Date.UTC(2026, 0, 5))
  const app = rota({ store: 'memory:', clock })
  opened = app
  return { app, pass: (ms) => clock.advance(ms, () => settled(10)) }
}

/** Finds the same at every poll. */
const listing: Sensor<undefined, null> = {
  init: () => ({ kind: 'ok', state: null }),
  poll: () => ({
    kind: 'trigger',
    observations: [{ key: 'data/2026-01-05', partition: '2026-01-05' }],
    state: null,
  }),
}
