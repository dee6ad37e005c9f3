import { expect, it } from 'vitest'
import { backfillPlan } from '../backfill/backfills.js'
import { byKeys } from '../../../kernel/partition/define.js'
import { stageAt } from './stage.js'

it.each([300, 3000])(
  'F13: an asset that needs all %i partitions of another asks for them once, however many of its own are looked at',
  async (count) => {
    const { app, clock } = stageAt('2025-01-05T12:00:00Z')
    const keys = Array.from({ length: count }, (_, index) => `key-${index}`)
    const materialize = (): void => undefined
    app.assets.define('from', { partitions: byKeys(keys), materialize })
    app.assets.define('to', { partitions: byKeys(keys), deps: [{ asset: 'from', map: 'all' }], materialize })
    await app.start({ roles: { worker: false } })
    const store = await app.store()
    let asked = 0
    const counting = new Proxy(store, {
      get: (target, name) => {
        if (name !== 'stateEntries') return Reflect.get(target, name, target) as unknown
        return (filter: Parameters<typeof store.stateEntries>[0]) => {
          asked += filter.items?.length ?? 0
          return target.stateEntries(filter)
        }
      },
    })
    const plan = await backfillPlan(counting, { asset: 'to', options: {}, now: clock.now() })
    expect(plan.run).toHaveLength(count)
    expect(asked).toBe(2 * count)
  },
)
