/**
 * What the commit queue needs of SQLite. If another process holds the lock, it waits with a timer, never inside
 * SQLite, so the event loop is not blocked. A crash leaves the whole transaction or nothing of it.
 */
import type { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import { CommitQueue, isBroken } from '../commit-queue.js'
import { alikeFrom, takeGroup, type Waiting } from '../sql/commit-group.js'
import { toRotaError } from './errors.js'
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

interface CommitLoopOptions {
  readonly session: Session
  readonly clock: Clock
  readonly url: string
  /** Told the number of a commit that was counted, before anybody has its answer. */
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
      takeGroup,
      transact: (take) => whenFree(options, () => this.#transact(take)),
      toRotaError: (error) => toRotaError(error, options.url),
    })
  }

  /** Why nothing more is done, once that is so. */
  get ended(): RotaError | undefined {
    return this.#queue.ended
  }

  /** How many transactions that changed something were committed here. */
  get commits(): number {
    return this.#commits
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
    return this.#queue.add((caller) => ({ apply, input, items, ...caller }))
  }

  /** Applies what has arrived; refuses what comes later. */
  close(reason: RotaError): Promise<void> {
    return this.#queue.close(reason)
  }

  /** Refuses everything that waits and everything to come. */
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
      // Explained here: SQLite's own error for a lock would let the transaction be tried again.
      const explained = this.#queue.explain(error)
      this.#options.session.forget()
      // After a failed write nothing may touch the file again: a second fsync could report success for lost pages.
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
    // Alone it is not worth an fsync, and would wake every other process on the file.
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
