import type { RotaError } from '../../kernel/definition/errors.js'
import { CommitQueue } from '../commit-queue.js'
import { toRotaError } from './errors.js'
import type { DirectoryLock } from './lock.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** The most operations of one transaction: a larger group would keep other processes waiting for too long. */
const maxGroup = 500

interface Waiting {
  readonly apply: (state: State) => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** Applies operations in groups, each group in one transaction, and reads between them. */
export class CommitLoop {
  readonly #session: Session
  readonly #lock: DirectoryLock
  readonly #queue: CommitQueue<Waiting>

  constructor({ session, lock }: { session: Session; lock: DirectoryLock }) {
    this.#session = session
    this.#lock = lock
    this.#queue = new CommitQueue<Waiting>({
      takeGroup: (queue) => queue.splice(0, maxGroup),
      transact: (take) =>
        lock.hold(() => {
          const group = take()
          return session.transact((state) => group.map(({ apply }) => apply(state)))
        }),
      toRotaError: (error) => toRotaError(error, session.url),
    })
  }

  /** Why the loop no longer accepts operations; undefined while it does. */
  get ended(): RotaError | undefined {
    return this.#queue.ended
  }

  /** Applies an operation together with all others that are waiting; resolves after the commit. */
  commit<T>(apply: (state: State) => T): Promise<T> {
    return this.#queue.add((caller) => ({ apply, ...caller }))
  }

  /** Reads committed data. Takes the lock only if the store has to be loaded again. */
  read<T>(ask: (state: State) => T): Promise<T> {
    return this.#reading(async () => {
      const known = this.#session.readCommitted()
      return ask(known ?? (await this.#lock.hold(() => this.#session.refresh())))
    })
  }

  /** Reads committed data while holding the lock. */
  readLocked<T>(ask: (state: State) => T): Promise<T> {
    return this.#reading(() => this.#lock.hold(() => ask(this.#session.refresh())))
  }

  /** Applies the waiting operations and refuses later ones. */
  close(reason: RotaError): Promise<void> {
    return this.#queue.close(reason)
  }

  async #reading<T>(read: () => Promise<T>): Promise<T> {
    if (this.ended !== undefined) throw this.ended
    try {
      return await read()
    } catch (error) {
      throw this.#queue.explain(error)
    }
  }
}
