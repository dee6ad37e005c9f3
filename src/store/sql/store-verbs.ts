import type { Store } from '../port.js'
import type { Session } from './session.js'
import type { Verb } from './verb.js'
import { inPieces, itemsPerCommit } from './in-pieces.js'
import { expire } from './work/expire.js'
import { hold, holds, release } from './planning/holds.js'
import { ledger } from './planning/ledger.js'
import { log, logs } from './work/logs.js'
import { prune } from './work/prune.js'
import { forgetSeen, seen } from './planning/seen.js'
import { changeState, stateEntries } from './state.js'
import { drain, register, retire, signsOf, workers } from './work/workers.js'

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
    register: (worker) => commit(() => register(worker), { isExclusive: false }),
    drain: (request) => commit((session) => drain(session, request), { isExclusive: false }),
    retire: (request) => commit((session) => retire(session, request)),
    expire: (request) => commit((session) => expire(session, request)),
    workers: () => read(workers),
    signsOf: (request) => read(() => signsOf(request)),
    log: async (lines) => {
      await inPieces(lines, async (piece) => {
        await commit(() => log(piece), { items: piece.length, isExclusive: false })
        return []
      })
    },
    logs: (request) => read(() => logs(request)),
    prune: async (request) => {
      let removed = 0
      for (;;) {
        const limit = Math.min(itemsPerCommit, request.limit - removed)
        const piece = await commit((session) => prune(session, { ...request, limit }), { items: limit })
        removed += piece
        if (piece < limit || removed === request.limit) return removed
      }
    },
    ledger: (request) => read(() => ledger(request)),
  } satisfies Partial<Store>
}
