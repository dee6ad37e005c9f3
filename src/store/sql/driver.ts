import type { Session } from './session.js'
import type { Verb } from './verb.js'

/** How a database performs verbs. */
export interface Driver {
  /** Performs a verb in a transaction, together with other waiting ones; resolves after the commit. */
  readonly commit: <T>(verb: (session: Session) => Verb<T>, options?: CommitOptions) => Promise<T>
  /** Performs a verb that only reads. */
  readonly read: <T>(verb: (session: Session) => Verb<T>, options?: ReadOptions) => Promise<T>
}

/** How a verb is committed. */
export interface CommitOptions {
  /** How many items it writes (default: 1). */
  readonly items?: number
  /** Whether it must be the only writer (default: true). */
  readonly isExclusive?: boolean
}

/** How a verb that only reads is performed. */
export interface ReadOptions {
  /** Whether it must read from one snapshot (default: false). */
  readonly isSnapshot?: boolean
}
