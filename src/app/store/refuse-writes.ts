import type { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'

/** The methods that only read. All others are refused, so that a new method is not allowed by mistake. */
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

/** The same store, read-only. */
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
