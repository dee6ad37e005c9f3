import type { Store } from '../port.js'
import type { Session } from './session.js'
import type { Verb } from './verb.js'
import { hold, holds, release } from './planning/holds.js'
import { ledger } from './planning/ledger.js'
import { forgetSeen, seen } from './planning/seen.js'
import { changeState, stateEntries } from './state.js'

/** How a database performs verbs. */
export interface Driver {
  /** Performs a verb in a transaction, together with whatever else has arrived; the answer comes after the commit. */
  readonly commit: <T>(verb: (session: Session) => Verb<T>, options?: CommitOptions) => Promise<T>
  /** Performs a verb that only reads. */
  readonly read: <T>(verb: (session: Session) => Verb<T>, options?: ReadOptions) => Promise<T>
}

/** How a verb is committed. */
export interface CommitOptions {
  /** How many items it writes (default: 1). */
  readonly items?: number
  /** Whether it has to be the only writer (default: true). */
  readonly isExclusive?: boolean
}

/** How a verb that only reads is performed. */
export interface ReadOptions {
  /** Whether all that it reads has to be of one moment (default: false). */
  readonly isSnapshot?: boolean
}

/** The methods of a store that are the same on every SQL database. */
export function storeVerbs({ commit, read }: Driver) {
  return {
    seen: (request) => read(() => seen(request)),
    forgetSeen: (request) => commit(() => forgetSeen(request)),
    hold: (request) => commit((session) => hold(session, request)),
    release: (request) => commit((session) => release(session, request)),
    holds: (filter = {}) => read(() => holds(filter)),
    stateEntries: (filter) => read(() => stateEntries(filter)),
    changeState: (request) =>
      commit((session) => changeState(session, request), { items: 1 + request.changes.length }),
    ledger: (request) => read(() => ledger(request)),
  } satisfies Partial<Store>
}
