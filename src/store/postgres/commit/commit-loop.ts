/**
 * One queue for everything that a process writes. The loop applies the waiting operations in order of arrival in one
 * transaction, and answers each after the commit. Operations that arrive meanwhile share the next commit.
 *
 * Processes coordinate by one advisory lock of the schema, which ends with the transaction. Operations that touch only rows
 * of their own (plain runs: recorded, claimed, ended) take it in shared mode. Operations that read one row to decide about
 * another take it exclusively, unless a finer lock covers the decision: the lock of a slot, of a queue, of a unique key, of
 * a state entry, or the revision of a trigger (docs/decisions/0051-postgres-slot-locks.md, 0060 and 0093). The server
 * ends a session that stalls in the middle of a transaction, so nobody holds the lock for long.
 *
 * If one operation of a group throws, the transaction is rolled back and each operation is tried alone. If a conflict or a
 * broken connection ends a transaction before its commit, the whole transaction is repeated. If the answer to the commit
 * itself is lost, the loop asks the server for the outcome, by the transaction's number or by what it wrote. So nothing is
 * done twice, and nothing counts as done that is not. If the server cannot tell, the callers get an error that says so.
 */
import type { Client } from 'pg'
import { RotaError } from '../../../kernel/definition/errors.js'
import { fractionOf, type RunId } from '../../../kernel/identity/identity.js'
import type { Clock } from '../../../time/clock.js'
import type { News } from '../../hint.js'
import { alikeFrom, takeGroup, type Waiting } from '../../sql/commit-group.js'
import type { Revisions } from '../../sql/catalog.js'
import type { Connections } from '../connection/connections.js'
import { Database, type Statements } from '../connection/database.js'
import {
  isAway,
  isBroken,
  isConflict,
  isInTheWay,
  isOutOfLocks,
  isReadOnly,
  LostStatement,
  toRotaError,
} from '../connection/errors.js'
import { InDoubt, type CommitStatus } from './commit-status.js'
import { outcomeOf, raiseFence } from './lost-answer.js'
import { commitInOneCall, NotOneCall, NotPassedOn, mergedParts } from './one-call.js'
import { beginText } from './begin.js'
import type { OneCallPart } from './one-call-part.js'
import type { ProcessCache } from './process-cache.js'
import { NotExclusive, Session } from './session.js'
import { KeyTaken } from './claim-and-end.js'

/** How far the stored highest time may lag behind. */
const timeStepMs = 1000

/** How long a group is retried before its callers get an error. */
const tryLimitMs = 5000

/** The same if other transactions block the group while the server answers: one lock wait may take longer than the limit above. */
const lockTryLimitMs = 30_000

const longestPauseMs = 500

/** The pause before a taken unique key is tried again. */
const keyPauseMs = 20

/** What the loop is made of. */
export interface CommitLoopOptions {
  readonly connections: Connections
  readonly statements: Statements
  readonly remembered: ProcessCache
  readonly clock: Clock
  readonly url: string
  /** Different in each process, so that processes that failed together do not retry at the same moment. */
  readonly seed: string
  /** Whether a commit waits for the server's disk (`synchronous_commit`). */
  readonly isDurable: boolean
  /** Receives the server's time, and the time of this process before and after the request. */
  readonly onTime: (reading: { serverMs: number; beforeMs: number; afterMs: number }) => void
  /** Called if the store cannot be used any more. */
  readonly onBroken: (error: RotaError) => void
  /** What this process committed last, on any of its lanes. */
  readonly status: CommitStatus
  /** Called after a commit that other processes may wait for. */
  readonly onNews: (news: News) => void
  /** Called after a commit that only recorded runs, which the worker of this process may claim first. */
  readonly onNewRuns: (runs: readonly RunId[]) => void
}

interface PostgresWaiting
  extends Waiting<(session: Session, inputs: readonly never[]) => Promise<readonly unknown[]>> {
  /** The same operation as a part of the one-call transaction, if it can be one. */
  readonly oneCall: OneCallPart | undefined
  /** Whether the operation is known to need the exclusive lock. */
  readonly isExclusive: boolean
  readonly sinceMs: number
}

/** Whether two operations may share a transaction: one that must be the only writer would make the other wait, too. */
function haveSameLock(one: PostgresWaiting, other: PostgresWaiting): boolean {
  return one.isExclusive === other.isExclusive
}

/** Applies operations in groups, each group in one transaction. */
export class CommitLoop {
  readonly #options: CommitLoopOptions
  readonly #status: CommitStatus
  #queue: PostgresWaiting[] = []
  #isWorking = false
  #ended: RotaError | undefined
  #onIdle: (() => void) | undefined
  #tries = 0

  constructor(options: CommitLoopOptions) {
    this.#options = options
    this.#status = options.status
  }

  /** The reason why the loop has ended, if it has. */
  get ended(): RotaError | undefined {
    return this.#ended
  }

  /** Applies an operation together with the other waiting ones; resolves after the commit. */
  commit<T>(
    apply: (session: Session) => Promise<T>,
    given: { items?: number; isExclusive?: boolean; oneCall?: OneCallPart | undefined } = {},
  ): Promise<T> {
    const { items = 1, isExclusive = true, oneCall } = given
    const one = async (session: Session): Promise<T[]> => [await apply(session)]
    return this.commitAlike(one, { input: undefined, items, isExclusive, oneCall })
  }

  /** The same for operations that are cheaper together: one call applies all waiting operations of a kind, and answers each. */
  commitAlike<Input, T>(
    apply: (session: Session, inputs: readonly Input[]) => Promise<readonly T[]>,
    given: { input: Input; items: number; isExclusive: boolean; oneCall: OneCallPart | undefined },
  ): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const sinceMs = this.#options.clock.monotonicMs()
    return new Promise<T>((resolve, reject) => {
      this.#add({ apply, ...given, sinceMs, resolve, reject })
    })
  }

  /** Applies the waiting operations; refuses later ones. */
  async close(reason: RotaError): Promise<void> {
    this.#ended ??= reason
    if (!this.#isWorking) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  #add(one: PostgresWaiting): void {
    this.#queue.push(one)
    if (this.#isWorking) return
    this.#isWorking = true
    setImmediate(() => void this.#work())
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const apart = await this.#perform(takeGroup(this.#queue, haveSameLock))
      for (const one of apart) await this.#perform([one])
      // Callers that were just answered may add operations at once: these join the next group.
      if (this.#queue.length > 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isWorking = false
    this.#onIdle?.()
  }

  /** Commits a group and answers it; returns the operations that must be tried again, each one alone. */
  async #perform(group: readonly PostgresWaiting[]): Promise<readonly PostgresWaiting[]> {
    const { clock, remembered, url } = this.#options
    const startMs = clock.monotonicMs()
    let isExclusive = group[0]?.isExclusive === true
    let parts = mergedParts(group.map(({ oneCall }) => oneCall))
    for (let tries = 1; ; tries++) {
      try {
        const answers =
          parts === undefined
            ? await this.#transact((session) => applyAll(session, group), isExclusive)
            : await this.#transactUsually(parts)
        for (const [i, { resolve }] of group.entries()) resolve(answers[i] as never)
        return []
      } catch (error) {
        // The catalog may have been read in a transaction that changed it and was rolled back.
        const isOutdated = error instanceof NotOneCall && error.isOutdated
        if ((parts === undefined && isExclusive) || isOutdated) remembered.catalog = undefined
        // The next call takes the lock.
        if (error instanceof NotPassedOn) continue
        const mustBeExclusive = error instanceof NotExclusive || (isOutOfLocks(error) && !isExclusive)
        if (mustBeExclusive || error instanceof NotOneCall) {
          isExclusive ||= mustBeExclusive
          parts = undefined
          continue
        }
        if (error instanceof KeyTaken) return this.#putOff(group, error)
        if (error instanceof InDoubt) {
          const { cause } = error
          const refusal =
            cause instanceof RotaError
              ? cause
              : new RotaError('STORE_AWAY', `${url}: ${error.message}`, { cause })
          for (const { reject } of group) reject(refusal)
          return []
        }
        const limitMs = isInTheWay(error) ? lockTryLimitMs : tryLimitMs
        const mayHeal = (isConflict(error) || isAway(error)) && clock.monotonicMs() - startMs < limitMs
        if (mayHeal && this.#ended === undefined) {
          await clock.sleep(this.#pauseMs(tries))
          continue
        }
        const refusal = toRotaError(error, url)
        if (isBroken(refusal)) this.#options.onBroken(refusal as RotaError)
        else if (group.length > 1 && !isAway(error)) return group
        for (const { reject } of group) reject(refusal)
        return []
      }
    }
  }

  /** Delays an operation whose unique key an open transaction has; returns the operations to try alone. */
  #putOff(group: readonly PostgresWaiting[], error: KeyTaken): readonly PostgresWaiting[] {
    const [one] = group
    if (group.length > 1 || one === undefined) return group
    const { clock, url } = this.#options
    if (clock.monotonicMs() - one.sinceMs > tryLimitMs || this.#ended !== undefined) {
      one.reject(new RotaError('STORE_BUSY', `${url}: ${error.message}`))
      return []
    }
    clock.timer(keyPauseMs, () => {
      if (this.#ended === undefined) this.#add(one)
      else one.reject(this.#ended)
    })
    return []
  }

  /** Runs one transaction. Throws if it was not committed, and only then. */
  async #transact<T>(apply: (session: Session) => Promise<T>, isExclusive: boolean): Promise<T> {
    const sent = await this.#options.connections.use(async (client) => {
      const { remembered, statements } = this.#options
      await this.#status.recognise(client)
      const db = new Database(client, statements, { prepares: true })
      let transaction: string | undefined
      let answer: T
      let session: Session
      try {
        const revisions = await this.#begin(client, isExclusive)
        session = new Session({ db, remembered, isExclusive, revisions })
        answer = await apply(session)
        if (db.hasChanged) {
          await session.writeTime(timeStepMs)
          transaction = (await db.value(THIS_TRANSACTION)) as string | undefined
        }
      } catch (error) {
        db.end()
        await this.#rollBack(client)
        throw error
      }
      db.end()
      return { client, session, transaction, answer, error: await this.#commit(client) }
    })
    const { client, session, transaction } = sent
    const { onNews, onNewRuns } = this.#options
    // Asked after the connection was returned: with few connections, the question might wait for this one.
    if (sent.error !== undefined) {
      if (transaction === undefined || !(await this.#wasCommitted(client, transaction))) throw sent.error
    }
    this.#status.committed(client, transaction)
    session.committed()
    if (session.news !== undefined) onNews(session.news)
    else onNewRuns(session.newRuns)
    return sent.answer
  }

  /** The same in one round trip, for operations that the one-call function can do. */
  async #transactUsually(parts: readonly OneCallPart[]): Promise<readonly unknown[]> {
    const { connections, remembered, statements, clock, isDurable, onTime, onNews } = this.#options
    if (remembered.isFenceDue) await this.#transact(raiseFence, true)
    const sent = await connections.use(async (client) => {
      await this.#status.recognise(client)
      const beforeMs = clock.monotonicMs()
      try {
        const done = await commitInOneCall(new Database(client, statements, { prepares: true }), remembered, {
          parts,
          isDurable,
          timeStepMs,
        })
        onTime({ serverMs: done.serverMs, beforeMs, afterMs: clock.monotonicMs() })
        this.#status.committed(client, done.transaction)
        return done
      } catch (error) {
        // These are answers of the server: nothing was written.
        if (!isAway(error) || isReadOnly(error) || error instanceof LostStatement) throw error
        connections.giveUp(client, error)
        return { error }
      }
    })
    if ('error' in sent) return (await this.#findAnswers(parts)) ?? Promise.reject(sent.error)
    if (sent.news !== undefined) onNews(sent.news)
    return sent.answers
  }

  /** The answers of a one-call transaction whose connection broke, if it was committed. Asks until the server knows. */
  async #findAnswers(parts: readonly OneCallPart[]): Promise<readonly unknown[] | undefined> {
    this.#options.remembered.isFenceDue = true
    const answers = await this.#insist(() => this.#transact((session) => outcomeOf(session, parts), true))
    if (answers !== undefined) this.#options.onNews('runs')
    return answers
  }

  /** Sends the commit; returns the error if there is no answer, and the connection is then given up. */
  async #commit(client: Client): Promise<unknown> {
    try {
      await client.query('commit')
      return undefined
    } catch (error) {
      this.#options.connections.giveUp(client, error)
      return error
    }
  }

  async #begin(client: Client, isExclusive: boolean): Promise<Revisions> {
    const { clock, statements, onTime } = this.#options
    const { isDurable } = this.#options
    const text = beginText(statements, { isExclusive, isDurable })
    const beforeMs = clock.monotonicMs()
    // A query of several statements returns one result for each.
    const results = (await client.query(text)) as unknown as readonly {
      rows: (Revisions & { at: number })[]
    }[]
    const row = results.at(-1)?.rows[0]
    if (row === undefined) throw new Error('The store has lost the row that describes it')
    onTime({ serverMs: row.at, beforeMs, afterMs: clock.monotonicMs() })
    return row
  }

  async #rollBack(client: Client): Promise<void> {
    try {
      await client.query('rollback')
    } catch (error) {
      this.#options.connections.giveUp(client, error)
    }
  }

  /** Whether a transaction was committed whose answer was lost. Asks until the server knows. */
  async #wasCommitted(client: Client, transaction: string): Promise<boolean> {
    const outcome = await this.#insist(async () => {
      const answer = await this.#status.of(client, transaction)
      if (answer === 'in progress') throw new StillGoing()
      return answer
    })
    return outcome === 'committed'
  }

  /** Repeats a question about an outcome until the server answers; after a while, throws `InDoubt`. */
  async #insist<T>(ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#options
    const startMs = clock.monotonicMs()
    for (let tries = 1; ; tries++) {
      try {
        return await ask()
      } catch (error) {
        const mayHeal = isAway(error) || isConflict(error) || error instanceof StillGoing
        const isOver = clock.monotonicMs() - startMs > tryLimitMs || (this.#ended !== undefined && tries > 3)
        if (!mayHeal || isOver) throw error instanceof InDoubt ? error : new InDoubt(error)
      }
      await clock.sleep(this.#pauseMs(tries))
    }
  }

  #pauseMs(tries: number): number {
    const full = Math.min(longestPauseMs, 5 * 2 ** Math.min(tries, 10))
    return full * (0.5 + 0.5 * fractionOf(`${this.#options.seed}#${++this.#tries}`))
  }

  /** Refuses the waiting operations and all later ones. */
  breakOff(error: RotaError): void {
    this.#ended = error
    for (const { reject } of this.#queue.splice(0)) reject(error)
  }
}

const THIS_TRANSACTION = `select pg_current_xact_id_if_assigned()::text`

/** The transaction in question is still in progress. */
class StillGoing extends Error {}

/** Applies all operations, those of one kind that follow each other by one call. */
async function applyAll(session: Session, group: readonly PostgresWaiting[]): Promise<unknown[]> {
  const answers: unknown[] = []
  while (answers.length < group.length) {
    const { apply, inputs } = alikeFrom(group, answers.length)
    answers.push(...(await apply(session, inputs)))
  }
  return answers
}
