/**
 * The usual transaction: runs are recorded, claimed and ended, and lines added to their logs. It is one call of a function,
 * which commits by itself: one journey to the server and back, for all that has arrived here. The function is
 * `commit_work`, and the newest migration that makes it has its text: `migrations/version-11/commit.ts`.
 */
import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { Instant } from '../../../time/instant.js'
import type { Enqueued, Finished, Turn, TurnAnswer } from '../../port.js'
import type { News } from '../../hint.js'
import {
  isAnyRated,
  isClaimingHeld,
  isQueueHeld,
  jobOf,
  limitedQueueOf,
  type Catalog,
} from '../../sql/catalog.js'
import type { EnqueueRequest } from '../../sql/runs/enqueue.js'
import { isPlainEnd } from '../../sql/runs/finish.js'
import type { Database } from '../connection/database.js'
import { claimRows, claimsOf, rememberTurn, type ClaimColumns } from './read-claims.js'
import type { ProcessCache } from './process-cache.js'
import type { SharedLimit } from './passing-on.js'
import type { RateLook } from './rate-looks.js'
import type { Look } from './scan-cursor.js'
import { NotExclusive } from './session.js'
import { oneCallOf, type Parameter } from './one-call-parameters.js'
import type { OneCallPart } from './one-call-part.js'

const places = Array.from({ length: 56 }, (_, i) => `$${i + 1}`).join(', ')

const COMMIT = `select rota.commit_work(${places}) as answer,
  case when $57::text is not null then
    rota.rated_at($57::text, $58::int8, $59::text[], $60::text[], $61::text[], $62::int8[])
  end as rated_at,
  pg_current_xact_id_if_assigned()::text as transaction`

/** The maximum of unique keys in one call: each is a lock, and the server has a limited number of locks. */
const maxUniqueKeys = 256

/** Error codes of the schema's functions. This one: the operation needs the exclusive lock. */
const notAloneState = 'RT001'

/** Error code of the server: out of lock slots. The exclusive lock of the schema is a single lock. */
const tooManyLocksState = '53200'

/** The definitions have changed since the caller read them. */
const changedState = 'RT002'

/** The runs are in a state that only the general transaction can handle. */
const unusualState = 'RT003'

/** Not every run that ended at a limit is followed by another one: the lock of that limit is needed. */
const notPassedOnState = 'RT004'

/** Error code of the server: a run with this id exists. */
const existsState = '23505'

/** Thrown if the work needs the general transaction. */
export class NotOneCall extends Error {
  /** Whether this process has older definitions than the store. */
  readonly isOutdated: boolean

  constructor(message: string, { isOutdated }: { readonly isOutdated: boolean }) {
    super(message)
    this.isOutdated = isOutdated
  }
}

/** Thrown if a turn needs the lock of its limit after all; the next call takes it. */
export class NotPassedOn extends Error {}

type Answer = readonly Enqueued[] | TurnAnswer | undefined

/** The result of a call of the function. */
export interface OneCallCommit {
  /** For each part: the recorded runs, or the answer to the turn. */
  readonly answers: readonly Answer[]
  readonly serverMs: number
  /** The number of the transaction, if it wrote something. */
  readonly transaction: string | null
  /** What other processes may wait for. */
  readonly news: News | undefined
}

/** An enqueue as a part of the call, if it can be one. */
export function oneCallEnqueue(request: EnqueueRequest): OneCallPart | undefined {
  if (request.runs.some(({ burst, deadlines }) => burst !== undefined || deadlines !== undefined))
    return undefined
  const keys = request.runs.filter(({ uniqueKey }) => uniqueKey !== undefined)
  return keys.length <= maxUniqueKeys ? { enqueue: request } : undefined
}

/** A worker's turn as a part of the call, if it can be one. */
export function oneCallTurn(remembered: ProcessCache, turn: Turn): OneCallPart | undefined {
  const { finished, claimRequest, now } = turn
  const { catalog } = remembered
  if (catalog === undefined) return undefined
  if (claimRequest !== undefined && isAnyHeld(catalog, claimRequest.jobs, now)) return undefined
  const isUsual = (one: Finished): boolean => {
    const claim = remembered.claimOf(one.run)
    return isPlainEnd(one) && claim?.place !== undefined && !claim.hasEndEffect
  }
  const isOnce = new Set(finished.map(({ run }) => run)).size === finished.length
  return isOnce && finished.every(isUsual) ? withoutRated(remembered, turn, catalog) : undefined
}

/** A turn that does not claim runs with a rate limit, and checks whether one may start; undefined if one may. */
function withoutRated(remembered: ProcessCache, turn: Turn, catalog: Catalog): OneCallPart | undefined {
  const { claimRequest, now } = turn
  if (claimRequest === undefined || !isAnyRated(catalog, claimRequest.jobs)) return { turn, catalog }
  const [rated, jobs] = parted(claimRequest.jobs, (job) => catalog.rates.has(job))
  const rest = { ...turn, claimRequest: { ...claimRequest, jobs } }
  // Runs with a rate limit are never prefetched.
  if (claimRequest.slots === 0) return { turn: rest, catalog }
  const rateLook = remembered.rates.lookFor(catalog, rated, now)
  return rateLook === undefined ? undefined : { turn: rest, catalog, rateLook }
}

function parted<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** Parts of one group as one call, if possible: at most one of them is a turn. */
export function mergedParts(parts: readonly (OneCallPart | undefined)[]): OneCallPart[] | undefined {
  let turns = 0
  let keys = 0
  for (const part of parts) {
    if (part === undefined) return undefined
    if (part.turn !== undefined) turns++
    for (const { uniqueKey } of part.enqueue?.runs ?? []) if (uniqueKey !== undefined) keys++
  }
  return turns <= 1 && keys <= maxUniqueKeys ? (parts as OneCallPart[]) : undefined
}

function isAnyHeld(catalog: Catalog, jobs: readonly string[], now: Instant): boolean {
  if (catalog.holds.length === 0) return false
  return (
    isClaimingHeld(catalog, now) || jobs.some((job) => isQueueHeld(catalog, jobOf(catalog, job).queue, now))
  )
}

/** Commits the parts, of which at most one is a turn. Without an answer, the outcome is unknown. */
export async function commitInOneCall(
  db: Database,
  remembered: ProcessCache,
  { parts, isDurable, timeStepMs }: { parts: readonly OneCallPart[]; isDurable: boolean; timeStepMs: number },
): Promise<OneCallCommit> {
  const { turn, catalog, rateLook } = parts.find((part) => part.turn !== undefined) ?? {}
  for (const { enqueue } of parts) if (enqueue !== undefined) remembered.noteTime(enqueue.now)
  if (turn !== undefined) remembered.noteTime(turn.now)
  const time = remembered.isTimeToWrite(timeStepMs) ? remembered.highestAt : 0
  const { writer, fence } = remembered
  const { parameters, shared, passesOn } = oneCallOf(remembered, parts)
  const {
    answer: row,
    rated_at: ratedAt,
    transaction,
  } = await ask(db, [
    writer,
    fence,
    // What a claim relies on; recording a run needs to know nothing of the definitions.
    catalog?.jobsRevision ?? null,
    catalog?.limitsRevision ?? null,
    time,
    isDurable,
    ...parameters,
    ...lookOf(rateLook, turn),
  ]).catch((error: unknown) => {
    if (shared !== undefined && error instanceof NotPassedOn) {
      remembered.passingOn.failed(shared)
      remembered.forgetWaitPositions(shared.name)
    }
    throw error
  })
  if (shared !== undefined) {
    remembered.passingOn.committed(shared, { isFilled: row.filled === true, passedOn: passesOn })
    notePosition(remembered, shared, { row, now: turn?.now ?? 0 })
  }
  // A turn that found nothing writes nothing.
  if (time > 0 && transaction !== null) remembered.timeWritten(time)
  const took =
    turn === undefined
      ? undefined
      : answerTo(remembered, { turn, catalog, row, ratesAt: ratedAt ?? Infinity })
  const enqueued = recordedBy(parts, row)
  return {
    answers: parts.map((part) => (part.turn === undefined ? enqueued.get(part) : took)),
    serverMs: row.at,
    transaction,
    news: row.news === true || isNews(parts, took) ? 'runs' : undefined,
  }
}

/** Remembers where the runs that wait at a limit begin. */
function notePosition(
  remembered: ProcessCache,
  { name }: SharedLimit,
  { row: { nextPassed, nextFirst }, now }: { row: CommitRow; now: Instant },
): void {
  if (nextPassed == null || nextFirst == null) return
  const [priority, runAt, seq] = nextFirst
  const firsts = [{ job: name, priority, run_at: runAt, seq }]
  remembered.waitPositions(name).note({ jobs: [name], passed: nextPassed, firsts, now })
}

/** The parameters of the check for runs with a rate limit. */
function lookOf(look: RateLook | undefined, turn: Turn | undefined): Parameter[] {
  if (look === undefined || turn === undefined) return [null, null, null, null, null, null]
  return [turn.worker, turn.now, look.readyOf, look.parkedOf, look.fullOf, look.fullUntil]
}

/** Runs that were claimed in the same transaction are no news for other processes. */
function isNews(parts: readonly OneCallPart[], took: TurnAnswer | undefined): boolean {
  const claimed = new Set(took?.claims.map(({ run }) => run))
  return parts.some(({ enqueue }) => enqueue?.runs.some(({ id }) => !claimed.has(id)) === true)
}

/** The recorded runs of each part: all, except those whose unique key another run has. */
function recordedBy(parts: readonly OneCallPart[], row: CommitRow): Map<OneCallPart, Enqueued[]> {
  const holders = new Map(row.refusedAt?.map((place, i) => [place, row.refusedBy?.[i] as string]))
  const answers = new Map<OneCallPart, Enqueued[]>()
  let place = 0
  for (const part of parts) {
    if (part.enqueue === undefined) continue
    const answer = part.enqueue.runs.map(({ id }): Enqueued => {
      const holder = holders.get(++place)
      return holder === undefined ? { id, created: true } : { id: holder, created: false }
    })
    answers.set(part, answer)
  }
  return answers
}

async function ask(db: Database, parameters: readonly Parameter[]): Promise<Committed> {
  try {
    return (await db.get<Committed>(COMMIT, ...parameters)) as Committed
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === notAloneState || code === tooManyLocksState) throw new NotExclusive((error as Error).message)
    if (code === notPassedOnState) throw new NotPassedOn((error as Error).message)
    const isOutdated = code === changedState
    if (isOutdated || code === unusualState || code === existsState)
      throw new NotOneCall((error as Error).message, { isOutdated })
    throw error
  }
}

interface Committed {
  readonly answer: CommitRow
  /** When the first run may start that waits for a rate limit, if this was checked. */
  readonly rated_at: Instant | null
  readonly transaction: string | null
}

interface CommitRow {
  readonly at: number
  readonly phase?: number | null
  readonly told?: readonly (HolderNotice & { readonly id: number })[] | null
  readonly claims?: ClaimColumns | null
  readonly more?: boolean
  readonly nextAt?: Instant | null
  /** The cost of the index entries without a live run; absent if nothing was claimed. */
  readonly passed?: number | null
  readonly firsts?: Look['firsts'] | null
  /** The queues that had no room, whose jobs were not looked at; only together with `firsts`. */
  readonly closed?: readonly string[] | null
  /** The places, from 1 on, of new runs whose unique keys other runs have; and those runs. */
  readonly refusedAt?: readonly number[] | null
  readonly refusedBy?: readonly string[] | null
  /** Whether runs became ready, or a queue has room again, and this worker did not take all of it. */
  readonly news?: boolean
  /** Whether another run followed each one that ended at a limit. */
  readonly filled?: boolean
  /** The cost of finding the runs that follow, and the first of them, if the call did without the lock of a slot. */
  readonly nextPassed?: number | null
  readonly nextFirst?: readonly [priority: number, runAt: Instant, seq: number] | null
}

function answerTo(
  remembered: ProcessCache,
  given: { turn: Turn; catalog: Catalog | undefined; row: CommitRow; ratesAt: Instant },
): TurnAnswer {
  const { turn, catalog, row, ratesAt } = given
  const { worker, finished, claimRequest, now } = turn
  const told = row.told ?? []
  const lastTold = told.at(-1)
  if (lastTold !== undefined) remembered.heard(worker, lastTold.id)
  const rows = row.claims == null ? [] : claimRows(row.claims)
  rememberTurn(remembered, turn, rows)
  if (claimRequest !== undefined) remembered.isMoreReady = row.more === true
  if (claimRequest !== undefined && row.passed != null)
    remembered.positions.note({
      jobs: jobsLookedAt(claimRequest.jobs, row.closed ?? [], catalog),
      passed: row.passed,
      firsts: row.firsts ?? [],
      now,
    })
  const fullAt = claimRequest === undefined ? undefined : remembered.positions.fullAt(now)
  const nextAt = Math.min(row.nextAt ?? Infinity, ratesAt, fullAt ?? Infinity)
  return {
    expired: row.phase !== 0,
    finished: finished.map(() => 'stored'),
    claims: claimsOf(rows, now, catalog),
    more: row.more === true,
    nextRunAt: nextAt === Infinity ? undefined : nextAt,
    notices: told.map(({ run, attempt, kind }) => ({ run, attempt, kind })),
    jobsRevision: catalog?.jobsRevision ?? 0,
  }
}

/** Without the jobs of queues that had no room. */
function jobsLookedAt(
  jobs: readonly string[],
  closed: readonly string[],
  catalog: Catalog | undefined,
): readonly string[] {
  if (closed.length === 0 || catalog === undefined) return jobs
  return jobs.filter((job) => !closed.includes(limitedQueueOf(catalog, job) ?? ''))
}
