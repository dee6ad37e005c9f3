/**
 * One queue for all that a process writes. What arrived when the lock is taken is applied in order of arrival in one
 * transaction, and each answer is given after the commit that holds it: one record, one lock, for all of them. If one
 * of a group throws, nothing of the group has happened and each is tried again alone.
 */
import type { RotaError } from '../../kernel/definition/errors.js'
import { isBroken, toRotaError } from './errors.js'
import type { DirectoryLock } from './lock.js'
import type { Session } from './session.js'
import type { State } from './state.js'

/** The most operations of one transaction: above it others would wait too long for the lock. */
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

  /** Why nothing more is done, once that is so. */
  get ended(): RotaError | undefined {
    return this.#ended
  }

  /** Applies an operation together with whatever else has arrived; its answer comes after the commit. */
  commit<T>(apply: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ apply, resolve, reject })
      if (this.#isWorking) return
      this.#isWorking = true
      setImmediate(() => void this.#work())
    })
  }

  /** Asks something of what was committed. Takes the lock only where the store has to be loaded anew. */
  async read<T>(ask: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    try {
      const known = this.#session.look()
      return ask(known ?? (await this.#lock.hold(() => this.#session.refresh())))
    } catch (error) {
      throw this.#understood(error)
    }
  }

  /** Asks something of what was committed while nobody changes it. */
  async readLocked<T>(ask: (state: State) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    try {
      return await this.#lock.hold(() => ask(this.#session.refresh()))
    } catch (error) {
      throw this.#understood(error)
    }
  }

  /** Applies what has arrived; refuses what comes later. */
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
      // Others get their turn between two transactions: timers, sockets, and what arrives meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isWorking = false
    this.#onIdle?.()
  }

  /** Applies a group as soon as the lock is free; answers those that have to be tried again, each one alone. */
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
      const refusal = this.#understood(error)
      if (group.length > 1 && !isBroken(refusal)) return group
      for (const { reject } of group.length > 0 ? group : take()) reject(refusal)
      return []
    }
  }

  #understood(error: unknown): unknown {
    const understood = toRotaError(error, this.#session.url)
    if (isBroken(understood)) this.#breakOff(understood as RotaError)
    return understood
  }

  /** Refuses everything that waits and everything to come. */
  #breakOff(error: RotaError): void {
    this.#ended = error
    for (const { reject } of this.#queue.splice(0)) reject(error)
  }
}
