/* Claims as the one-call function returns them. */
import type { Instant } from '../../../time/instant.js'
import type { Claim, Turn } from '../../port.js'
import { limitedQueueOf, type Catalog } from '../../sql/catalog.js'
import { fromJson, orUndefined } from '../../sql/rows/run-rows.js'
import type { ProcessCache } from './process-cache.js'

/** A claim as the function returns it, and as it is read after a lost answer. */
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
  readonly gates: string | null
  readonly follows: boolean
}

/** The same column by column, which is faster than row by row. */
export type ClaimColumns = readonly [
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
  gates: readonly (string | null)[],
  follows: readonly boolean[],
]

/** Claims row by row. */
export function claimRows(columns: ClaimColumns): ClaimRow[] {
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
    gates,
    follows,
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
    gates: gates[i],
    follows: follows[i],
  })) as ClaimRow[]
}

/** Remembers what a committed turn has ended and claimed. */
export function rememberTurn(remembered: ProcessCache, turn: Turn, rows: readonly ClaimRow[]): void {
  for (const { run } of turn.finished) remembered.forgetClaim(run)
  for (const { id, job, place, gates, follows } of rows)
    remembered.rememberClaim(id, { job, gates, hasEndEffect: follows, place })
}

/** The claims of a turn, the most urgent first. */
export function claimsOf(rows: readonly ClaimRow[], now: Instant, catalog: Catalog | undefined): Claim[] {
  const isInLimited = (job: string): boolean =>
    catalog !== undefined && catalog.queueLimits.size > 0 && limitedQueueOf(catalog, job) !== undefined
  return rows.toSorted(byUrgency).map((row) => {
    return claimOf(row, { now, isLimited: row.gates !== null || isInLimited(row.job) })
  })
}

function byUrgency(a: ClaimRow, b: ClaimRow): number {
  return b.priority - a.priority || a.run_at - b.run_at || a.seq - b.seq
}

function claimOf(row: ClaimRow, { now, isLimited }: { now: Instant; isLimited: boolean }): Claim {
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
    isLimited: isLimited || undefined,
    hasEndEffect: row.follows || undefined,
  }
}
