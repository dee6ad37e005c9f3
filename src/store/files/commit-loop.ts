/**
 * One queue for all writes of a process. All operations that are waiting when the lock is taken are applied in order
 * of arrival in one transaction: one lock and one journal record for the group. Each caller is answered after the
 * commit. If one operation throws, nothing of the group has happened and each operation is tried again separately.
 */
import type { RotaError } from '../../kernel/definition/errors.js'
import { isBroken, toRotaError } from './errors.js'
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

/** Applies operations in groups, each group in one transaction. */
export class CommitLoop {
  readonly #session: Session
  readonly #lock: DirectoryLock
  #queue: Waiting[] = []
  #isWorking = false
  #ended: RotaError | undefined
  #onIdle: (() => void) | undefined

  constructor(options: { session: Session; lock: DirectoryLock }) {
    this.#session = options.session
    this.#lock = options.lock
  }

  /** Why the loop no longer accepts operations; undefined while it does. */
  get ended(): RotaError | undefined {
    return this.#ended
  }

  /** Applies an operation together with all others that are waiting; resolves after the commit. */
  commit<T>(apply: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ apply, resolve, reject })
      if (this.#isWorking) return
      this.#isWorking = true
      setImmediate(() => void this.#work())
    })
  }

  /** Reads committed data. Takes the lock only if the store has to be loaded again. */
  async read<T>(ask: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    try {
      const known = this.#session.readCommitted()
      return ask(known ?? (await this.#lock.hold(() => this.#session.refresh())))
    } catch (error) {
      throw this.#toStoreError(error)
    }
  }

  /** Reads committed data while holding the lock. */
  async readLocked<T>(ask: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    try {
      return await this.#lock.hold(() => ask(this.#session.refresh()))
    } catch (error) {
      throw this.#toStoreError(error)
    }
  }

  /** Applies the waiting operations and refuses later ones. */
  async close(reason: RotaError): Promise<void> {
    this.#ended ??= reason
    if (!this.#isWorking) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = await this.#transact(() => this.#queue.splice(0, maxGroup))
      for (const one of group) await this.#transact(() => [one])
      // Timers, sockets and new operations get their turn between two transactions.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isWorking = false
    this.#onIdle?.()
  }

  /** Applies a group once the lock is free; returns the operations that have to be tried again separately. */
  async #transact(take: () => Waiting[]): Promise<readonly Waiting[]> {
    let group: Waiting[] = []
    try {
      const answers = await this.#lock.hold(() => {
        group = take()
        return this.#session.transact((state) => group.map(({ apply }) => apply(state)))
      })
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] as never)
      return []
    } catch (error) {
      const refusal = this.#toStoreError(error)
      if (group.length > 1 && !isBroken(refusal)) return group
      for (const { reject } of group.length > 0 ? group : take()) reject(refusal)
      return []
    }
  }

  #toStoreError(error: unknown): unknown {
    const toStoreError = toRotaError(error, this.#session.url)
    if (isBroken(toStoreError)) this.#fail(toStoreError as RotaError)
    return toStoreError
  }

  /** Rejects all waiting operations and refuses later ones. */
  #fail(error: RotaError): void {
    this.#ended = error
    for (const { reject } of this.#queue.splice(0)) reject(error)
  }
}
