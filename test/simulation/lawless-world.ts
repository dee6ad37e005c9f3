import type { Trigger } from '../../src/kernel/trigger/trigger.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables, type Tables } from '../../src/store/memory/tables.js'
import type { Store } from '../../src/store/port.js'
import type { WorldObserver } from '../../src/testing/observer.js'
import { simulate, type SimulationReport } from '../../src/testing/simulation.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

const hourMs = 3_600_000

/** A short simulation on a store that breaks one of its rules. */
export async function worldOn(
  breakLaw: (store: Store, tables: Tables) => Partial<Store>,
  triggers: readonly Trigger[],
  observers: readonly WorldObserver[] = [],
): Promise<SimulationReport> {
  const tables = emptyTables(endEffects)
  const open = (): Promise<Store> => {
    const store = openMemoryStore(tables)
    const broken = breakLaw(store, tables)
    return Promise.resolve(
      new Proxy(store, {
        get(target, key) {
          const own = (broken as Record<string | symbol, unknown>)[key]
          if (own !== undefined) return own
          const value: unknown = Reflect.get(target, key, target)
          return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
        },
      }),
    )
  }
  return await simulate({
    seed: 7,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: 4 * 24 * hourMs,
    triggers,
    kinds,
    observers,
    open,
    processes: 2,
    crashEveryMs: 6 * hourMs,
    stepEveryMs: Infinity,
    leaseMs: hourMs,
    failure: 0.05,
  })
}
