/**
 * One queue for all that a process writes. What arrived when the lock is taken is applied in order of arrival
 * in one transaction, and each answer is given after the commit that holds it: one fsync for all of them.
 *
 * A lock held by another process is waited for on the clock, never inside SQLite, so the event loop goes on.
 * If one of a group throws, the transaction is rolled back and each one is tried again alone: what it was
 * grouped with makes no difference to it. A crash leaves the whole transaction or nothing of it.
 */
import type { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import { alikeFrom, takeGroup, type Waiting } from '../sql/commit-group.js'
import { isBroken, toRotaError } from './errors.js'
import type { Session } from './session.js'
import { whenFree } from './when-free.js'

/** How far the highest time that is written down may lie behind: each commit would write one page more. */
const timeStepMs = 1000

/**
 * How many commits are counted however fast they follow each other, and how often one is beyond them. Counting writes
 * one page more, which shows at thousands of commits a second and is lost in the noise at a hundred.
 */
const maxAllowance = 100
const countEveryMs = 10

type Apply = (session: Session, inputs: readonly never[]) => readonly unknown[]

/** Applies operations in groups, each group in one transaction. */
export class CommitLoop {
  readonly #session: Session
  readonly #clock: Clock
  readonly #url: string
  readonly #onCommit: ((number: number) => void) | undefined
  #queue: Waiting<Apply>[] = []
  #isWorking = false
  #ended: RotaError | undefined
  #broken: RotaError | undefined
  #onIdle: (() => void) | undefined
  #allowance = maxAllowance
  #allowedAtMs = 0

  constructor(options: {
    session: Session
    clock: Clock
    url: string
    /** Told the number of a commit that was counted, before anybody has its answer. */
    onCommit?: ((number: number) => void) | undefined
  }) {
    this.#session = options.session
    this.#clock = options.clock
    this.#url = options.url
    this.#onCommit = options.onCommit
  }

  /** Why nothing more is done, once that is so. */
  get ended(): RotaError | undefined {
    return this.#ended
  }

  /** Applies an operation together with whatever else has arrived; its answer comes after the commit. */
  commit<T>(apply: (session: Session) => T, items = 1): Promise<T> {
    return this.commitAlike((session) => [apply(session)], { input: undefined, items })
  }

  /** The same for one that is cheaper in company: what arrived of its kind is applied by one call, an answer for each. */
  commitAlike<Input, T>(
    apply: (session: Session, inputs: readonly Input[]) => readonly T[],
    { input, items }: { input: Input; items: number },
  ): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ apply, input, items, resolve, reject })
      if (this.#isWorking) return
      this.#isWorking = true
      setImmediate(() => void this.#work())
    })
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
      const group = await this.#transact(() => takeGroup(this.#queue))
      for (const one of group) await this.#transact(() => [one])
      // Others get their turn between two transactions: timers, sockets, and what arrives meanwhile.
      if (this.#queue.length > 0) await nextTurn()
    }
    this.#isWorking = false
    this.#onIdle?.()
  }

  /** Applies a group as soon as the lock is free; answers those that have to be tried again, each one alone. */
  async #transact(take: () => readonly Waiting<Apply>[]): Promise<readonly Waiting<Apply>[]> {
    try {
      if (this.#broken !== undefined) throw this.#broken
      return await whenFree({ clock: this.#clock, url: this.#url }, () => {
        this.#session.db.begin()
        this.#session.doubtCatalog()
        return this.#apply(take())
      })
    } catch (error) {
      const refusal = this.#understood(error)
      for (const { reject } of take()) reject(refusal)
      return []
    }
  }

  /** Commits a group and answers it. If that fails there is no trace of it, and one alone is refused. */
  #apply(group: readonly Waiting<Apply>[]): readonly Waiting<Apply>[] {
    const answers: unknown[] = []
    let number: number | undefined
    try {
      while (answers.length < group.length) {
        const { apply, inputs } = alikeFrom(group, answers.length)
        answers.push(...apply(this.#session, inputs))
      }
      // Alone it is not worth an fsync, and would wake every other process on the file.
      if (this.#session.db.hasChanged) {
        this.#session.writeTime(timeStepMs)
        if (this.#mayCount()) number = this.#session.db.countCommit()
      }
      this.#session.db.run('commit')
    } catch (error) {
      const failure = this.#rolledBack(error)
      if (group.length > 1 && !isBroken(failure)) return group
      for (const { reject } of group) reject(failure)
      return []
    }
    if (number !== undefined) this.#onCommit?.(number)
    for (const [i, { resolve }] of group.entries()) resolve(answers[i] as never)
    return []
  }

  #mayCount(): boolean {
    const nowMs = this.#clock.monotonicMs()
    const earned = (nowMs - this.#allowedAtMs) / countEveryMs
    this.#allowance = Math.min(maxAllowance, this.#allowance + earned)
    this.#allowedAtMs = nowMs
    if (this.#allowance < 1) return false
    this.#allowance -= 1
    return true
  }

  #rolledBack(error: unknown): unknown {
    const understood = this.#understood(error)
    this.#session.forget()
    // After a failed write nothing may touch the file again: a second fsync could report success for lost pages.
    if (!isBroken(understood) && this.#session.db.isInTransaction) this.#session.db.run('rollback')
    return understood
  }

  #understood(error: unknown): unknown {
    const understood = toRotaError(error, this.#url)
    if (isBroken(understood)) this.breakOff(understood as RotaError)
    return understood ?? new Error('A transaction failed without a reason')
  }

  /** Refuses everything that waits and everything to come. */
  breakOff(error: RotaError): void {
    this.#broken = error
    this.#ended = error
    const waiting = this.#queue
    this.#queue = []
    for (const { reject } of waiting) reject(error)
  }
}

/** Lets everything else that waits have its turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
