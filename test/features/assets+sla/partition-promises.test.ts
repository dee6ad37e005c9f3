import { expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../src/app/rota.js'
import { breaches } from '../../../src/engine/explain/breaches.js'
import { breachText, jobKey } from '../../../src/kernel/sla/deadline.js'
import type { AssetSlaInput } from '../../../src/kernel/sla/sla.js'
import { daily } from '../../../src/kernel/partition/define.js'
import { testApp, type TestApp, type WorldOptions } from '../../../src/testing/test-app.js'
import { formatInstant } from '../../../src/time/instant.js'

/** A simulation with a daily asset that is produced at night; the named days fail. */
async function worldWith(sla: AssetSlaInput, failing: readonly string[]): Promise<TestApp<Rota>> {
  const make = (options: WorldOptions): Rota => {
    const app = rota({ app: 'sla', ...options })
    app.assets.define('sales', {
      partitions: daily({ timezone: 'Europe/Berlin', previous: true }),
      materialize: ({ partition }) => {
        if (failing.includes(partition ?? '')) throw new Error('no')
      },
      sla,
    })
    void app.assets.schedule('sales', { cron: '0 2 * * *', timezone: 'Europe/Berlin' })
    return app
  }
  const world = await testApp(make)
  onTestFinished(() => world.close())
  return world
}

const texts = async (world: TestApp<Rota>): Promise<readonly string[]> =>
  (await breaches(await world.app.store(), { names: [jobKey('sales')] }))
    .map((one) => breachText(one, formatInstant))
    .toReversed()

it('each late partition is reported once, and no other', async () => {
  const world = await worldWith({ madeWithin: '3h', madeBy: '08:00' }, ['2026-01-03'])
  await world.advance('6d')
  expect(await texts(world)).toEqual([
    'the partition 2026-01-03, which ended at 2026-01-03T23:00:00Z, was not made by 2026-01-04T02:00:00Z, as the SLA promises',
    'the partition 2026-01-03, which ended at 2026-01-03T23:00:00Z, was not made by 2026-01-04T07:00:00Z, as the SLA promises',
  ])
  const left = await (await world.app.store()).stateEntries({ kind: 'deadline', limit: 10 })
  expect(left).toHaveLength(2)
})

it('partitions whose deadline passed during downtime are reported after it', async () => {
  const world = await worldWith({ madeWithin: '3h', notOlderThan: '30h' }, [])
  await world.advance('1d')
  world.crash()
  await world.advance('3d')
  await world.restart()
  await world.advance('1h')
  const found = await breaches(await world.app.store(), {})
  expect(found.map(({ rule, partition }) => `${rule} ${partition ?? ''}`).toReversed()).toEqual([
    'made-within 2026-01-01',
    'not-older-than ',
    'made-within 2026-01-02',
    'made-within 2026-01-03',
  ])
})

it.each<[AssetSlaInput, RegExp]>([
  [{ madeWithin: '3h' }, /sla\.madeWithin: it contradicts `partitions` \(keys\), which have no end/],
  [{ madeBy: '08:00' }, /sla\.madeBy: it contradicts `partitions` \(keys\), which have no end/],
])('a promise about partitions that have no end is refused: %j', (sla, message) => {
  const app = rota({ store: 'memory:' })
  const partitions = { kind: 'keys', keys: ['eu', 'us'] } as const
  expect(() => app.assets.define('sales', { partitions, materialize: () => undefined, sla })).toThrow(message)
})
