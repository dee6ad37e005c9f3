import { RotaError } from '../../../kernel/definition/errors.js'
import type { Clock } from '../../../time/clock.js'
import type { Connections } from './connections.js'
import { Database, type Statements } from './database.js'
import { isAway, isCancelled, isConflict, toRotaError } from './errors.js'
import type { ProcessCache } from '../commit/process-cache.js'
import { Session } from '../commit/session.js'

/** How long a question is asked again while the server is away, and how soon. */
const askLimitMs = 5000
const pauseMs = 100

/** What a reader is made of. */
export interface ReaderOptions {
  readonly connections: Connections
  readonly statements: Statements
  readonly remembered: ProcessCache
  readonly clock: Clock
  readonly url: string
  /** Why nothing more may be asked, once that is so. */
  readonly ended: () => RotaError | undefined
  /** Whether the server works on a question only for so long: one that takes longer is not asked again. */
  readonly isLimited: boolean
}

/** Asks questions that change nothing, beside what is being committed. */
export class Reader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Asks what one statement answers, or several that need not fit together; again where the server was away. */
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

  /** Asks several questions whose answers have to fit together. */
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
  const message = `${url}: the database needed too long for this question; ask for less, such as a shorter time`
  return new RotaError('READ_TOO_LONG', message, { cause })
}
