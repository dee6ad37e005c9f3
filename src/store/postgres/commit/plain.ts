/**
 * The usual transaction: plain runs are recorded, claimed and ended, and nothing else. It is one call of a function, which
 * commits by itself: one journey to the server and back, for all that has arrived here.
 */
import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import type { Claim, Enqueued, Finished, Turn, TurnAnswer } from '../../port.js'
import { isClaimingHeld, isQueueHeld, jobOf, type Catalog } from '../../sql/catalog.js'
import { fromJson, orUndefined, originCode, toJson } from '../../sql/rows/run-rows.js'
import type { Database } from '../connection/database.js'
import { isBare, isIndependent, type EnqueueRequest } from '../../sql/runs/enqueue.js'
import { isPlainEnd } from '../../sql/runs/finish.js'
import type { Look } from './scan-cursor.js'
import type { ProcessCache } from './process-cache.js'
import { NotExclusive } from './session.js'
import { mayTurnTogether } from './may-turn-together.js'

/** How many more candidates are looked at where only plain ones may be taken. */
const slackAhead = 32

const COMMIT = `select rota.commit_plain($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
  $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) as answer, pg_current_xact_id_if_assigned()::text as transaction`

/** The error codes of the schema's functions: somebody has to be the only writer for this. */
const notAloneState = 'RT001'

/** The definitions are no longer those that the caller knows. */
const changedState = 'RT002'

/** Something about the runs is not as it usually is. */
const unusualState = 'RT003'

/** The server's own: a run of that id exists. */
const existsState = '23505'

/** Thrown if the transaction has to be made in the way that can do everything. */
export class NotPlain extends Error {
  /** Whether the reason is that this process knows older definitions than the store has. */
  readonly isOutdated: boolean

  constructor(message: string, { isOutdated }: { readonly isOutdated: boolean }) {
    super(message)
    this.isOutdated = isOutdated
  }
}

/** One piece of the usual transaction: runs to be recorded, or a worker's turn. */
export type PlainPart =
  | { readonly enqueue: EnqueueRequest; readonly turn?: undefined }
  | {
      readonly turn: Turn
      /** By which it was found to be plain. */
      readonly catalog: Catalog
      readonly enqueue?: undefined
    }

/** What a call of the function came to. */
export interface PlainCommit {
  /** For each part: what was recorded, or what the turn gives. */
  readonly answers: readonly (readonly Enqueued[] | TurnAnswer)[]
  readonly serverMs: number
  /** The number of the transaction, if it wrote something. */
  readonly transaction: string | null
  /** Whether others may have to be told of something. */
  readonly hasNews: boolean
}

/** Whether recording runs can be part of the call. */
export function plainEnqueue(request: EnqueueRequest): PlainPart | undefined {
  return request.runs.every((run) => isIndependent(run) && isBare(run)) ? { enqueue: request } : undefined
}

/** Whether a turn can be part of the call. */
export function plainTurn(remembered: ProcessCache, turn: Turn): PlainPart | undefined {
  const { finished, claimRequest, now } = turn
  const { catalog } = remembered
  if (catalog === undefined || !mayTurnTogether(remembered, turn)) return undefined
  if (claimRequest !== undefined && isAnyHeld(catalog, claimRequest.jobs, now)) return undefined
  const isUsual = (one: Finished): boolean =>
    isPlainEnd(one) && remembered.claimOf(one.run)?.place !== undefined
  const isOnce = new Set(finished.map(({ run }) => run)).size === finished.length
  return isOnce && finished.every(isUsual) ? { turn, catalog } : undefined
}

function isAnyHeld(catalog: Catalog, jobs: readonly string[], now: Instant): boolean {
  if (catalog.holds.length === 0) return false
  return (
    isClaimingHeld(catalog, now) || jobs.some((job) => isQueueHeld(catalog, jobOf(catalog, job).queue, now))
  )
}

/** Commits the parts, of which at most one is a turn. Whoever gets no answer does not know what became of it. */
export async function commitPlain(
  db: Database,
  remembered: ProcessCache,
  { parts, isLasting, timeStepMs }: { parts: readonly PlainPart[]; isLasting: boolean; timeStepMs: number },
): Promise<PlainCommit> {
  const requests = parts.flatMap(({ enqueue }) => (enqueue === undefined ? [] : [enqueue]))
  const { turn, catalog } = parts.find((part) => part.turn !== undefined) ?? {}
  for (const { now } of requests) remembered.noteTime(now)
  if (turn !== undefined) remembered.noteTime(turn.now)
  const time = remembered.isTimeToWrite(timeStepMs) ? remembered.highestAt : 0
  const { writer, fence } = remembered
  const { answer: row, transaction } = await ask(db, [
    writer,
    fence,
    // What a claim relies on; recording a run needs to know nothing of the definitions.
    catalog?.jobsRevision ?? null,
    catalog?.limitsRevision ?? null,
    time,
    isLasting,
    ...newRuns(requests),
    ...turnOf(remembered, turn),
  ])
  if (time > 0) remembered.timeWritten(time)
  const took = turn === undefined ? undefined : answerTo(remembered, { turn, catalog, row })
  return {
    answers: parts.map(({ enqueue }) => (enqueue === undefined ? (took as TurnAnswer) : recorded(enqueue))),
    serverMs: row.at,
    transaction,
    hasNews: isNews(requests, took),
  }
}

/** Nobody has to be told of runs that were claimed in the same moment. */
function isNews(requests: readonly EnqueueRequest[], took: TurnAnswer | undefined): boolean {
  if (requests.length === 0) return false
  if (took === undefined || took.claims.length === 0) return true
  const claimed = new Set(took.claims.map(({ run }) => run))
  return requests.some(({ runs }) => runs.some(({ id }) => !claimed.has(id)))
}

/** What has been recorded: whoever commits plainly and gets an answer has recorded every run. */
export function recorded({ runs }: EnqueueRequest): Enqueued[] {
  return runs.map(({ id }) => ({ id, created: true }))
}

async function ask(db: Database, parameters: readonly Parameter[]): Promise<Committed> {
  try {
    return (await db.get<Committed>(COMMIT, ...parameters)) as Committed
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === notAloneState) throw new NotExclusive('runs wait for their gates')
    const isOutdated = code === changedState
    if (isOutdated || code === unusualState || code === existsState)
      throw new NotPlain((error as Error).message, { isOutdated })
    throw error
  }
}

interface Committed {
  readonly answer: CommitRow
  readonly transaction: string | null
}

type Parameter = Parameters<Database['get']>[1]

function newRuns(requests: readonly EnqueueRequest[]): Parameter[] {
  const runs: NewRun[] = []
  const at: Instant[] = []
  for (const request of requests) {
    for (const run of request.runs) {
      runs.push(run)
      at.push(request.now)
    }
  }
  return [
    runs.map(({ id }) => id),
    runs.map(({ job }) => job),
    runs.map(({ priority }) => priority),
    runs.map(({ runAt }) => runAt),
    runs.map(({ dueAt }) => dueAt),
    runs.map(({ origin }) => originCode(origin)),
    runs.map(({ payload }) => toJson(payload)),
    at,
  ]
}

function turnOf(remembered: ProcessCache, turn: Turn | undefined): Parameter[] {
  if (turn === undefined) return [null, 0, 0, [], [], [], [], [], null, null, null, 0, 0, 0]
  const { worker, now, finished, claimRequest } = turn
  const { jobs, slots = 0, prefetch = 0 } = claimRequest ?? {}
  const from = jobs?.map((job) => remembered.positions.of(job, now))
  return [
    worker,
    now,
    remembered.heardOf(worker),
    finished.map(({ run }) => run),
    finished.map(({ run }) => remembered.claimOf(run)?.place ?? null),
    finished.map(({ startedAt = null }) => startedAt),
    finished.map(({ endedAt }) => endedAt),
    finished.map(({ outcome }) => toJson(outcome.result)),
    jobs ?? null,
    from?.map((position) => position?.priority ?? null) ?? null,
    from?.map((position) => position?.runAt ?? null) ?? null,
    slots,
    prefetch,
    prefetch > 0 ? slackAhead + 1 : 1,
  ]
}

/** A claim as the function writes it, and as it is read where its answer was lost. */
export interface ClaimRow {
  readonly place: string
  readonly seq: number
  readonly priority: number
  readonly run_at: number
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly due_at: number
  readonly partition: string | null
  readonly payload: string | null
  readonly is_plain: boolean
}

type ClaimColumns = readonly [
  place: readonly string[],
  seq: readonly number[],
  priority: readonly number[],
  runAt: readonly number[],
  id: readonly string[],
  job: readonly string[],
  trigger: readonly (string | null)[],
  attempt: readonly number[],
  failures: readonly number[],
  crashes: readonly number[],
  dueAt: readonly number[],
  partition: readonly (string | null)[],
  payload: readonly (string | null)[],
  isPlain: readonly boolean[],
]

function claimRows(columns: ClaimColumns): ClaimRow[] {
  const [
    place,
    seq,
    priority,
    runAt,
    id,
    job,
    trigger,
    attempt,
    failures,
    crashes,
    dueAt,
    partition,
    payload,
    isPlain,
  ] = columns
  return id.map((_, i) => ({
    place: place[i],
    seq: seq[i],
    priority: priority[i],
    run_at: runAt[i],
    id: id[i],
    job: job[i],
    trigger: trigger[i],
    attempt: attempt[i],
    failures: failures[i],
    crashes: crashes[i],
    due_at: dueAt[i],
    partition: partition[i],
    payload: payload[i],
    is_plain: isPlain[i],
  })) as ClaimRow[]
}

interface CommitRow {
  readonly at: number
  readonly phase?: number | null
  readonly told?: readonly (HolderNotice & { readonly id: number })[] | null
  /** Column by column: written faster than row by row. */
  readonly claims?: ClaimColumns | null
  readonly more?: boolean
  readonly nextAt?: Instant | null
  /** How many entries of the index had no run; nothing where it was not looked for runs. */
  readonly passed?: number | null
  readonly firsts?: Look['firsts'] | null
}

function answerTo(
  remembered: ProcessCache,
  { turn, catalog, row }: { turn: Turn; catalog: Catalog | undefined; row: CommitRow },
): TurnAnswer {
  const { worker, finished, claimRequest, now } = turn
  const told = row.told ?? []
  const lastTold = told.at(-1)
  if (lastTold !== undefined) remembered.heard(worker, lastTold.id)
  const rows = row.claims == null ? [] : claimRows(row.claims)
  rememberTurn(remembered, turn, rows)
  if (claimRequest !== undefined && row.passed != null)
    remembered.positions.note({ jobs: claimRequest.jobs, passed: row.passed, firsts: row.firsts ?? [], now })
  return {
    expired: row.phase !== 0,
    finished: finished.map(() => 'stored'),
    claims: claimsOf(rows, now),
    more: row.more ?? false,
    nextRunAt: row.nextAt ?? undefined,
    notices: told.map(({ run, attempt, kind }) => ({ run, attempt, kind })),
    jobsRevision: catalog?.jobsRevision ?? 0,
  }
}

/** Remembers what a turn that was committed has ended and claimed. */
export function rememberTurn(remembered: ProcessCache, turn: Turn, rows: readonly ClaimRow[]): void {
  for (const { run } of turn.finished) remembered.forgetClaim(run)
  for (const { id, job, place, is_plain: isPlain } of rows)
    remembered.rememberClaim(id, { job, isPlain, place })
}

/** The claims that a turn made, the most urgent first. */
export function claimsOf(rows: readonly ClaimRow[], now: Instant): Claim[] {
  return rows.toSorted(byUrgency).map((row) => claimOf(row, now))
}

function byUrgency(a: ClaimRow, b: ClaimRow): number {
  return b.priority - a.priority || a.run_at - b.run_at || a.seq - b.seq
}

function claimOf(row: ClaimRow, now: Instant): Claim {
  return {
    run: row.id,
    job: row.job,
    trigger: orUndefined(row.trigger),
    attempt: row.attempt,
    failures: row.failures,
    crashes: row.crashes,
    dueAt: row.due_at,
    partition: orUndefined(row.partition),
    payload: fromJson(row.payload),
    claimedAt: now,
  }
}
