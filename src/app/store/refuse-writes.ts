import type { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'

/** What changes nothing. What is not named here is refused, so that nothing new is let through by mistake. */
const readers: ReadonlySet<string> = new Set<keyof Store>([
  'jobs',
  'queues',
  'triggers',
  'fingerprints',
  'versions',
  'due',
  'dueByName',
  'nextTickAt',
  'seen',
  'holds',
  'stateEntries',
  'facts',
  'run',
  'runsByPrefix',
  'runs',
  'counts',
  'attempts',
  'logs',
  'ledger',
  'runInstants',
  'workers',
  'watch',
  'health',
  'close',
])

/** The same store, which can be looked at but refuses to be changed. */
export function refuseWrites(store: Store, error: RotaError): Store {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (!readers.has(String(key))) return () => Promise.reject(error)
      return (value as (...args: unknown[]) => unknown).bind(target)
    },
  })
}
