/**
 * The usual transaction: plain runs are recorded, claimed and ended, and nothing else. Everything that it consists of is
 * sent at once, so that it takes one journey to the server and back, and one more for the commit.
 */
import type { HolderNotice } from '../../model/fact.js'
import type { Claim, Finished, Turn, TurnAnswer } from '../store.js'
import type { Catalog } from './catalog.js'
import type { Database } from './database.js'
import { isPlainEnd } from './finish.js'
import type { Remembered } from './remembered.js'
import { fromJson, orUndefined, toJson } from './rows.js'
import { changedState, notAloneState } from './schema-plain.js'
import { NotAlone, type Session } from './session.js'
import { mayTurnTogether } from './turn.js'

/** From this number of wanted jobs on it is better to ask first which of them have something. */
const manyJobs = 32

/** How many more candidates are looked at where only plain ones may be taken. */
const slackAhead = 32

const BEGIN = `select rota.plain_begin($1, $2, $3, $4) as at`

const TURN = `select rota.plain_turn($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as answer`

/** Thrown where the transaction has to be made in the way that can do everything. */
export class NotPlain extends Error {}

/** Begins it: gives the server's time, or ends it where the definitions are not the known ones. */
export async function beginPlain(
  db: Database,
  catalog: Catalog,
  limits: { stallMs: number; waitMs: number },
): Promise<number> {
  const { jobsRevision, limitsRevision } = catalog
  return (await db.value(
    BEGIN,
    jobsRevision,
    limitsRevision,
    `${limits.stallMs}`,
    `${limits.waitMs}`,
  )) as number
}

/** What went wrong first; what follows an error in a transaction is only its echo. */
export function firstFailure(outcomes: readonly PromiseSettledResult<unknown>[]): unknown {
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  const reason: unknown = failed?.reason
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
  if (code === notAloneState) return new NotAlone('runs wait for their gates')
  if (code === changedState) return new NotPlain('the definitions have changed')
  return reason
}

/** Whether a turn can be one call of a function. */
export function isPlainTurn(remembered: Remembered, turn: Turn): boolean {
  return (
    (turn.want?.jobs.length ?? 0) < manyJobs &&
    turn.finished.every(isPlainEnd) &&
    new Set(turn.finished.map(({ run }) => run)).size === turn.finished.length &&
    remembered.catalog?.holds.length === 0 &&
    mayTurnTogether(remembered, turn)
  )
}

interface ClaimRow {
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

interface TurnRow {
  readonly stored: readonly string[] | null
  readonly phase: number | null
  readonly told: readonly HolderNotice[] | null
  readonly claims: readonly ClaimRow[] | null
  readonly more: boolean
}

/** One worker's turn as one call; sent before it is first waited for. */
export async function plainTurn(session: Session, request: Turn): Promise<TurnAnswer> {
  const { worker, now, finished, want } = request
  session.remembered.noteTime(now)
  const sent = session.db.get<{ answer: TurnRow }>(
    TURN,
    worker,
    now,
    finished.map(({ run }) => run),
    finished.map(({ startedAt = null }) => startedAt),
    finished.map(({ endedAt }) => endedAt),
    finished.map(({ outcome }) => toJson(outcome.result)),
    want?.jobs ?? null,
    want?.slots ?? 0,
    want?.ahead ?? 0,
    (want?.ahead ?? 0) > 0 ? slackAhead + 1 : 1,
  )
  const { answer: row } = (await sent) as { answer: TurnRow }
  const claims = row.claims ?? []
  session.afterCommit(() => remember(session.remembered, finished, claims))
  if (want !== undefined && !row.more) session.allTaken = true
  const known = { finished: answersTo(finished, row.stored), jobsRevision: revisionOf(session) }
  if (row.phase !== 0) return { expired: true, claims: [], more: false, notices: row.told ?? [], ...known }
  const taken = claims.map((claim) => claimOf(claim, now))
  return { expired: false, claims: taken, more: row.more, notices: row.told ?? [], ...known }
}

function remember(remembered: Remembered, finished: readonly Finished[], claims: readonly ClaimRow[]): void {
  for (const { run } of finished) remembered.forgetClaim(run)
  for (const { id, job, is_plain: isPlain } of claims) remembered.rememberClaim(id, { job, isPlain })
}

function answersTo(finished: readonly Finished[], stored: readonly string[] | null): ('stored' | 'stale')[] {
  const known = new Set(stored)
  return finished.map(({ run }) => (known.has(run) ? 'stored' : 'stale'))
}

/** The revision that the transaction began with, which is still the one that stands. */
function revisionOf(session: Session): number {
  return session.remembered.catalog?.jobsRevision ?? 0
}

function claimOf(row: ClaimRow, now: number): Claim {
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
