/**
 * One queue for all writes of a process. All operations that are waiting when the lock is taken are applied in order
 * of arrival in one transaction: one lock and one fsync for the group. Each caller is answered after the commit.
 *
 * If one operation throws, nothing of the group has happened and each operation is tried again separately, so an
 * operation is not affected by the others of its group.
 */
import { RotaError } from '../kernel/definition/errors.js'

/** A waiting operation, and the caller that gets its answer. */
interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** How a store commits. */
interface CommitQueueOptions<Item> {
  /** Takes from the front of the queue what one transaction applies. */
  readonly takeGroup: (queue: Item[]) => Item[]
  /** Takes a group once the lock is free and commits it; returns an answer for each item. If it throws, nothing was written. */
  readonly transact: (take: () => readonly Item[]) => Promise<readonly unknown[]>
  /** Converts an error of the system or the driver to one of the catalogue. */
  readonly toRotaError: (error: unknown) => unknown
}

/** Applies operations in groups, each group in one transaction. */
export class CommitQueue<Item extends Waiting> {
  readonly #options: CommitQueueOptions<Item>
  readonly #queue: Item[] = []
  #isWorking = false
  #ended: RotaError | undefined
  #broken: RotaError | undefined
  #onIdle: (() => void) | undefined

  constructor(options: CommitQueueOptions<Item>) {
    this.#options = options
  }

  /** Why the queue no longer accepts operations; undefined while it does. */
  get ended(): RotaError | undefined {
    return this.#ended
  }

  /** Applies an operation together with all others that are waiting; resolves after the commit. */
  add<T>(toItem: (caller: Waiting) => Item): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push(toItem({ resolve, reject }))
      if (this.#isWorking) return
      this.#isWorking = true
      setImmediate(() => void this.#work())
    })
  }

  /** Converts an error to one of the catalogue. If the store must not be used again, no operation is accepted any more. */
  explain(error: unknown): unknown {
    const explained = this.#options.toRotaError(error)
    if (isBroken(explained)) this.breakOff(explained)
    return explained
  }

  /** Rejects all waiting operations and refuses later ones. */
  breakOff(error: RotaError): void {
    this.#broken = error
    this.#ended = error
    for (const { reject } of this.#queue.splice(0)) reject(error)
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
      const group = await this.#transact(() => this.#options.takeGroup(this.#queue))
      for (const one of group) await this.#transact(() => [one])
      // Timers, sockets and new operations get control between two transactions.
      if (this.#queue.length > 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isWorking = false
    this.#onIdle?.()
  }

  /** Commits and answers a group; returns the operations that have to be tried again separately. */
  async #transact(takeGroup: () => readonly Item[]): Promise<readonly Item[]> {
    let group: readonly Item[] = []
    const take = (): readonly Item[] => (group = takeGroup())
    try {
      if (this.#broken !== undefined) throw this.#broken
      const answers = await this.#options.transact(take)
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] as never)
      return []
    } catch (error) {
      const refusal = this.explain(error)
      if (group.length > 1 && !isBroken(refusal)) return group
      for (const { reject } of group.length > 0 ? group : take()) reject(refusal)
      return []
    }
  }
}

/** Whether the error means that the store must not be used again. */
export function isBroken(error: unknown): error is RotaError {
  return error instanceof RotaError && (error.code === 'STORE_IO' || error.code === 'STORE_CORRUPT')
}
