/**
 * The SQLite part of the commit queue. If another process holds the lock, it waits with a timer, never inside
 * SQLite, so the event loop is not blocked. A crash leaves the whole transaction or nothing of it.
 */
import type { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import { CommitQueue, isBroken } from '../commit-queue.js'
import { alikeFrom, takeGroup, type Waiting } from '../sql/commit-group.js'
import { toRotaError } from './errors.js'
import type { Session } from './session.js'
import { whenFree } from './when-free.js'

/** How far the written highest time may be behind: otherwise each commit would write one more page. */
const timeStepMs = 1000

/**
 * How many commits are counted however fast they follow each other, and how often one is counted after that. Counting
 * writes one more page, which is measurable at thousands of commits a second, but not at a hundred.
 */
const maxAllowance = 100
const countEveryMs = 10

type Apply = (session: Session, inputs: readonly never[]) => readonly unknown[]

interface CommitLoopOptions {
  readonly session: Session
  readonly clock: Clock
  readonly url: string
  /** Called with the number of a counted commit, before the callers get their answers. */
  readonly onCommit?: ((number: number) => void) | undefined
}

/** Applies operations in groups, each group in one transaction. */
export class CommitLoop {
  readonly #options: CommitLoopOptions
  readonly #queue: CommitQueue<Waiting<Apply>>
  #commits = 0
  #allowance = maxAllowance
  #allowedAtMs = 0

  constructor(options: CommitLoopOptions) {
    this.#options = options
    this.#queue = new CommitQueue<Waiting<Apply>>({
      takeGroup: (queue) => takeGroup(queue),
      transact: (take) => whenFree(options, () => this.#transact(take)),
      toRotaError: (error) => toRotaError(error, options.url),
    })
  }

  /** Why the loop no longer accepts operations; undefined while it does. */
  get ended(): RotaError | undefined {
    return this.#queue.ended
  }

  /** How many transactions with changes this loop has committed. */
  get commits(): number {
    return this.#commits
  }

  /** Applies an operation together with all others that are waiting; resolves after the commit. */
  commit<T>(apply: (session: Session) => T, items = 1): Promise<T> {
    return this.commitAlike((session) => [apply(session)], { input: undefined, items })
  }

  /** The same for operations that are cheaper together: waiting ones with the same function are applied by one call. */
  commitAlike<Input, T>(
    apply: (session: Session, inputs: readonly Input[]) => readonly T[],
    { input, items }: { input: Input; items: number },
  ): Promise<T> {
    return this.#queue.add((caller) => ({ apply, input, items, ...caller }))
  }

  /** Applies the waiting operations and refuses later ones. */
  close(reason: RotaError): Promise<void> {
    return this.#queue.close(reason)
  }

  /** Rejects all waiting operations and refuses later ones. */
  breakOff(error: RotaError): void {
    this.#queue.breakOff(error)
  }

  #transact(take: () => readonly Waiting<Apply>[]): readonly unknown[] {
    const { db } = this.#options.session
    db.begin()
    this.#options.session.doubtCatalog()
    const group = take()
    try {
      return this.#apply(group)
    } catch (error) {
      // Converted here: with SQLite's own error for a lock the transaction would be repeated.
      const explained = this.#queue.explain(error)
      this.#options.session.forget()
      // After a failed write the file must not be used again: a second fsync could report success for lost pages.
      if (!isBroken(explained) && db.isInTransaction) db.run('rollback')
      throw explained
    }
  }

  #apply(group: readonly Waiting<Apply>[]): readonly unknown[] {
    const { session, onCommit } = this.#options
    const answers: unknown[] = []
    let number: number | undefined
    while (answers.length < group.length) {
      const { apply, inputs } = alikeFrom(group, answers.length)
      answers.push(...apply(session, inputs))
    }
    // Only together with other changes: alone it is not worth an fsync, and would wake every other process.
    if (session.db.hasChanged) {
      session.writeTime(timeStepMs)
      if (this.#mayCount()) number = session.db.countCommit()
    }
    session.db.run('commit')
    if (session.db.hasChanged) this.#commits += 1
    if (number !== undefined) onCommit?.(number)
    return answers
  }

  #mayCount(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    const earned = (nowMs - this.#allowedAtMs) / countEveryMs
    this.#allowance = Math.min(maxAllowance, this.#allowance + earned)
    this.#allowedAtMs = nowMs
    if (this.#allowance < 1) return false
    this.#allowance -= 1
    return true
  }
}
