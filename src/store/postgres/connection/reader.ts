import { RotaError } from '../../../kernel/definition/errors.js'
import type { Clock } from '../../../time/clock.js'
import type { Connections } from './connections.js'
import { Database, type Statements } from './database.js'
import { isAway, isCancelled, isConflict, toRotaError } from './errors.js'
import type { ProcessCache } from '../commit/process-cache.js'
import { Session } from '../commit/session.js'

/** How long a query is repeated while the server cannot be reached, and after which pause. */
const askLimitMs = 5000
const pauseMs = 100

/** The options of a reader. */
export interface ReaderOptions {
  readonly connections: Connections
  readonly statements: Statements
  readonly remembered: ProcessCache
  readonly clock: Clock
  readonly url: string
  /** Why no more queries are accepted; undefined while they are. */
  readonly ended: () => RotaError | undefined
  /** Whether queries have a time limit: one that exceeds it is not repeated. */
  readonly isLimited: boolean
}

/** Performs read-only queries, independently of commits. */
export class Reader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Performs one statement, or several that need no common snapshot; repeats it if the server could not be reached. */
  async ask<T>(
    question: (session: Session) => Promise<T>,
    options: { readonly answerMs?: number | undefined } = {},
  ): Promise<T> {
    const { clock, url, ended, isLimited } = this.#options
    const startMs = clock.monotonicMs()
    for (;;) {
      const end = ended()
      if (end !== undefined) throw end
      try {
        return await this.#once(question, options)
      } catch (error) {
        if (isLimited && isCancelled(error)) throw tooLong(url, error)
        const isOver = clock.monotonicMs() - startMs > askLimitMs
        if (isOver || !(isAway(error) || isConflict(error))) throw toRotaError(error, url)
      }
      await clock.sleep(pauseMs)
    }
  }

  /** Performs several queries on one snapshot. */
  askTogether<T>(question: (session: Session) => Promise<T>): Promise<T> {
    return this.ask(async (session) => {
      await session.db.change('begin isolation level repeatable read read only')
      try {
        return await question(session)
      } finally {
        await session.db.change('commit')
      }
    })
  }

  #once<T>(
    question: (session: Session) => Promise<T>,
    options: { readonly answerMs?: number | undefined },
  ): Promise<T> {
    const { connections, statements, remembered } = this.#options
    return connections.use((client) => {
      const db = new Database(client, statements, options)
      return question(new Session({ db, remembered, isExclusive: false }))
    })
  }
}

function tooLong(url: string, cause: unknown): RotaError {
  const message = `${url}: the query took too long; request less, such as a shorter period`
  return new RotaError('READ_TOO_LONG', message, { cause })
}
