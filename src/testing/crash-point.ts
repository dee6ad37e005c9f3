import type { ChangeRecord } from '../kernel/audit/audit.js'
import type { Store } from '../store/port.js'

/** A store of one process that can stop answering at any call, as if the process was killed. */
export interface CrashableStore {
  readonly store: Store
  /** The number of calls so far. */
  readonly calls: number
  /** The number of calls without an answer. */
  readonly inFlight: number
  /** Kills the process at its n-th call from now: before the store has done anything, or after the commit. */
  crashAt(call: number, when: 'before' | 'after'): void
  /** Kills the process: no call is answered from now on. */
  kill(): void
}

/** Wraps a store so that its user can be killed at any call. `onCrash` is called when `crashAt` kills it. */
export function crashable(real: Store, onCrash: () => void): CrashableStore {
  const state = {
    calls: 0,
    inFlight: 0,
    crashCall: Infinity,
    when: 'before' as 'before' | 'after',
    isDead: false,
  }
  const never = new Promise<never>(() => undefined)
  const unwatch: (() => void)[] = []
  const die = (): void => {
    state.isDead = true
    for (const end of unwatch.splice(0)) end()
  }
  const crash = (): Promise<never> => {
    die()
    onCrash()
    return never
  }
  const answered = (answer: unknown): unknown => {
    state.inFlight -= 1
    return state.isDead ? never : answer
  }
  const failed = (error: unknown): never => {
    state.inFlight -= 1
    throw error
  }
  const call = (method: (...args: unknown[]) => Promise<unknown>, args: unknown[]): Promise<unknown> => {
    if (state.isDead) return never
    state.calls += 1
    const isCrash = state.calls === state.crashCall
    if (isCrash && state.when === 'before') return crash()
    state.inFlight += 1
    const answer = method.apply(real, args).then(answered, failed)
    return isCrash ? answer.then(crash) : answer
  }
  const methods = new Map<string | symbol, unknown>()
  // Not a call of the store: it returns the same process on the same store.
  methods.set('audited', (record: ChangeRecord) => wrap(real.audited(record)))
  methods.set('watch', (hint: () => void) => {
    const end = state.isDead ? () => undefined : real.watch(hint)
    unwatch.push(end)
    return end
  })
  const wrap = (wrapped: Store): Store => {
    const called = new Map<string | symbol, unknown>()
    return new Proxy(wrapped, {
      get(target, key) {
        const own = methods.get(key)
        if (own !== undefined) return own
        const known = called.get(key)
        if (known !== undefined) return known
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const method = (...args: unknown[]): Promise<unknown> =>
          call(value as (...args: unknown[]) => Promise<unknown>, args)
        called.set(key, method)
        return method
      },
    })
  }
  return {
    store: wrap(real),
    get calls() {
      return state.calls
    },
    get inFlight() {
      return state.inFlight
    },
    crashAt(calls, when) {
      state.crashCall = state.calls + calls
      state.when = when
    },
    kill: die,
  }
}

/**
 * Waits until these stores are idle and `busy` is 0; work that a worker defers needs two cycles of the event loop.
 */
export async function storesSettled(
  stores: () => Iterable<CrashableStore>,
  busy: () => number = () => 0,
): Promise<void> {
  let before = activityOf(stores())
  for (let quiet = 0; quiet < 2; quiet++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    const after = activityOf(stores())
    if (after.calls !== before.calls || after.inFlight + busy() > 0) quiet = -1
    before = after
  }
}

function activityOf(stores: Iterable<CrashableStore>): { calls: number; inFlight: number } {
  let [calls, inFlight] = [0, 0]
  for (const store of stores) {
    calls += store.calls
    inFlight += store.inFlight
  }
  return { calls, inFlight }
}
