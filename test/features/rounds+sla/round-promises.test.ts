import { expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../src/app/rota.js'
import { breaches } from '../../../src/engine/explain/breaches.js'
import { breachText } from '../../../src/kernel/sla/deadline.js'
import type { SlaInput } from '../../../src/kernel/sla/sla.js'
import { testApp, type TestApp, type WorldOptions } from '../../../src/testing/test-app.js'
import { formatInstant } from '../../../src/time/instant.js'

const minute = 60_000

/** A world with a round of two services; each takes as long as it is told for the time, and fails if that is negative. */
async function worldWith(
  sla: SlaInput,
  tookMs: (service: string, at: number) => number,
): Promise<TestApp<Rota>> {
  const make = (options: WorldOptions): Rota => {
    const app = rota({ app: 'sla', ...options })
    for (const name of ['orders', 'stock'])
      app.job(name, async ({ dueAt }) => {
        const ms = tookMs(name, dueAt.getTime())
        await options.clock.sleep(Math.abs(ms))
        if (ms < 0) throw new Error('no')
      })
    app.rounds.define('shop', { every: '10m', services: ['orders', 'stock'], sla })
    return app
  }
  const world = await testApp(make)
  onTestFinished(() => world.close())
  return world
}

const texts = async (world: TestApp<Rota>): Promise<readonly string[]> =>
  (await breaches(await world.app.store(), { names: ['shop'] }))
    .map((one) => breachText(one, formatInstant))
    .toReversed()

const slowAt = Date.UTC(2026, 0, 1, 0, 20)

it('a check that ends in time is no breach, and a late one is reported once', async () => {
  const world = await worldWith({ startedWithin: '1m', finishedWithin: '5m' }, (_, at) =>
    at === slowAt ? 3 * minute : minute,
  )
  await world.advance('1h')
  expect(await texts(world)).toEqual([
    'the check that was due at 2026-01-01T00:20:00Z was not recorded as ended by 2026-01-01T00:25:00Z, as its SLA promises',
  ])
  const [left] = await (await world.app.store()).stateEntries({ kind: 'deadline', limit: 10 })
  expect(Number(left?.name ?? Infinity)).toBeGreaterThan(world.now.getTime())
  const why = await world.app.why('shop', { from: new Date(slowAt), until: new Date(slowAt) })
  expect(why.breaches).toHaveLength(1)
})

it('a round is as fresh as the last check in which every service succeeded', async () => {
  const fails = { fromAt: Date.UTC(2026, 0, 1, 0, 30), untilAt: Date.UTC(2026, 0, 1, 2, 0) }
  const world = await worldWith({ notOlderThan: '30m' }, (service, at) =>
    service === 'stock' && at >= fails.fromAt && at < fails.untilAt ? -1 : 0,
  )
  await world.advance('4h')
  expect(await texts(world)).toEqual([
    'the last success was at 2026-01-01T00:20:00Z; by 2026-01-01T00:50:00Z there should have been one, as the SLA allows 30m',
  ])
})

it('a check in which nothing is due is a success', async () => {
  const world = await testApp((options: WorldOptions) => {
    const app = rota({ app: 'sla', ...options })
    app.job('daily', () => undefined)
    app.rounds.define('slow', {
      every: '10m',
      services: [{ job: 'daily', every: '1d' }],
      sla: { notOlderThan: '1h' },
    })
    return app
  })
  onTestFinished(() => world.close())
  await world.advance('2d')
  expect(await breaches(await world.app.store(), {})).toEqual([])
})

it.each<[SlaInput, RegExp]>([
  [{ notOlderThan: '10m' }, /sla\.notOlderThan: 10m contradicts `every`, which is due at most every 10m/],
  [{ startedWithin: '5m', finishedWithin: '1m' }, /sla\.finishedWithin: "1m" contradicts `startedWithin`/],
])('an SLA of a round that cannot be kept is refused: %j', (sla, message) => {
  const app = rota({ store: 'memory:' })
  expect(() => app.rounds.define('shop', { every: '10m', services: ['orders'], sla })).toThrow(message)
})
