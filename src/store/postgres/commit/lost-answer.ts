import { boundText, maxLogLineBytes } from '../../../kernel/definition/bounds.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import type { Enqueued, Turn, TurnAnswer } from '../../port.js'
import { done, running } from '../../sql/rows/states.js'
import { uniqueHolder } from '../../sql/runs/enqueue.js'
import { perform } from '../../sql/verb.js'
import { claimsOf, rememberTurn, type ClaimRow } from './read-claims.js'
import { InDoubt } from './commit-status.js'
import type { Session } from './session.js'
import type { OneCallPart } from './one-call-part.js'

// Relies on: primary key of fences. A call that is still under way with the old fence is refused.
const RAISE_FENCE = `insert into rota.fences (writer, fence, at) values ($1, $2, $3)
  on conflict (writer) do update set fence = excluded.fence, at = excluded.at`

// No call is under way for a day: a handful of rows at most.
const FORGET_FENCES = `delete from rota.fences where at < $1`

// Relies on: the unique index of workers.id.
const KEY = `select key from rota.workers where id = $1`

// Relies on: the unique index of runs.id. A run that existed before has another time of recording.
const RECORDED = `select runs.id from unnest($1::text[], $2::int8[]) given (id, at)
  join rota.runs on runs.id = given.id and runs.created_at = given.at`

// Relies on: the unique index of runs.id, the primary key of logs.
const LOGGED = `select 1 from unnest($1::text[], $2::int4[], $3::int8[], $4::text[]) given (id, attempt, at, text)
  join rota.runs on runs.id = given.id join rota.logs on logs.run = runs.seq and logs.attempt = given.attempt
    and logs.at = given.at and logs.text = given.text limit 1`

// Relies on: the unique index of runs.id; the sum keeps the server from looking at the state first.
const ENDED = `select count(*) from rota.runs
  where id = any($1::text[]) and worker = $2 and state + 0 = ${done} and attempt = 1`

// Relies on: runs_running. Runs with another claim time belong to another turn.
const HELD = `select ctid as place, seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition,
    payload, gates, follow is not null as follows
  from rota.runs where state = ${running} and worker = $1 and claimed_at = $2`

type Answers = readonly (readonly Enqueued[] | TurnAnswer | undefined)[]

interface NewAt extends NewRun {
  readonly at: Instant
}

/**
 * The outcome of a one-call transaction whose answer was lost: its answers, or undefined if it was never committed. The
 * exclusive lock means that no such call is in progress, and the fence refuses a call that arrives later. The transaction is
 * recognised by what it must have written: runs by their ids, ends by their worker. If it had neither, it is recognised by
 * anything that it may have written: claims, log lines, runs whose unique keys were free.
 */
export async function outcomeOf(
  session: Session,
  parts: readonly OneCallPart[],
): Promise<Answers | undefined> {
  session.beExclusive()
  const { remembered } = session
  await raiseFence(session)
  const runs = parts.flatMap(({ enqueue }): NewAt[] =>
    enqueue === undefined ? [] : enqueue.runs.map((run) => ({ ...run, at: enqueue.now })),
  )
  const turn = parts.find((part) => part.turn !== undefined)?.turn
  const recorded = await recordedOf(session, runs)
  const certain = runs.filter(({ uniqueKey }) => uniqueKey === undefined)
  if (!certain.every(({ id }) => recorded.has(id))) return undefined
  const held = turn === undefined ? undefined : await heldBy(session, turn)
  if (held?.areEndsThere === false) return undefined
  const isKnown = certain.length > 0 || (turn?.finished.length ?? 0) > 0
  const hasTraces = recorded.size > 0 || (held?.unknown.length ?? 0) > 0
  if (!isKnown && !hasTraces && !(await isLogged(session, parts))) return undefined
  const answers: Answers[number][] = []
  for (const part of parts)
    answers.push(await answerTo(session, part, { recorded, unknown: held?.unknown ?? [] }))
  const rows = held?.unknown ?? []
  if (turn !== undefined) session.afterCommit(() => rememberTurn(remembered, turn, rows))
  return answers
}

async function answerTo(
  session: Session,
  part: OneCallPart,
  { recorded, unknown }: { recorded: ReadonlySet<RunId>; unknown: readonly ClaimRow[] },
): Promise<Answers[number]> {
  if (part.log !== undefined) return undefined
  if (part.enqueue !== undefined) {
    const { runs, now } = part.enqueue
    const answers: Enqueued[] = []
    for (const run of runs) answers.push(await enqueuedAs(session, run, { recorded, now }))
    return answers
  }
  return {
    expired: false,
    finished: part.turn.finished.map(() => 'stored'),
    claims: claimsOf(unknown, part.turn.now, part.catalog),
    // The rest is unknown: the next turn looks again, and gets the notices again.
    more: part.turn.claimRequest !== undefined,
    nextRunAt: part.turn.now,
    notices: [],
    jobsRevision: part.catalog.jobsRevision,
  }
}

/** A run that is missing was refused because another run has its unique key. */
async function enqueuedAs(
  session: Session,
  { id, job, uniqueKey }: NewRun,
  { recorded, now }: { recorded: ReadonlySet<RunId>; now: Instant },
): Promise<Enqueued> {
  if (recorded.has(id) || uniqueKey === undefined) return { id, created: true }
  const holder = await perform(uniqueHolder(session, { job, uniqueKey, now }))
  if (holder === undefined) throw new InDoubt()
  return { id: holder, created: false }
}

async function recordedOf(session: Session, runs: readonly NewAt[]): Promise<ReadonlySet<RunId>> {
  if (runs.length === 0) return new Set()
  const ids = runs.map(({ id }) => id)
  const at = runs.map((run) => run.at)
  const found = await session.db.all<{ id: RunId }>(RECORDED, ids, at)
  return new Set(found.map(({ id }) => id))
}

async function isLogged({ db }: Session, parts: readonly OneCallPart[]): Promise<boolean> {
  const lines = parts.flatMap(({ log }) => log ?? [])
  if (lines.length === 0) return false
  const found = await db.value(
    LOGGED,
    lines.map(({ run }) => run),
    lines.map(({ attempt }) => attempt),
    lines.map(({ at }) => at),
    lines.map(({ text }) => boundText(text, maxLogLineBytes)),
  )
  return found !== undefined
}

/** Makes the store refuse every call that this process has sent before. */
export async function raiseFence(session: Session): Promise<void> {
  const { db, remembered } = session
  const at = remembered.highestAt
  // Before the commit: a call with a later fence than the stored one is not refused.
  remembered.fence += 1
  await db.change(RAISE_FENCE, remembered.writer, remembered.fence, at)
  await db.change(FORGET_FENCES, at - dayMs)
  session.afterCommit(() => {
    remembered.isFenceDue = false
  })
}

const dayMs = 86_400_000

/** What a worker's turn has written and this process does not know. */
async function heldBy(
  session: Session,
  { worker, finished, now }: Turn,
): Promise<{ areEndsThere: boolean; unknown: readonly ClaimRow[] }> {
  const { db, remembered } = session
  const key = ((await db.value(KEY, worker)) as number | undefined) ?? null
  const runs = finished.map(({ run }) => run)
  const areEndsThere = runs.length === 0 || (await db.value(ENDED, runs, key)) === runs.length
  const held = await db.all<ClaimRow>(HELD, key, now)
  return { areEndsThere, unknown: held.filter(({ id }) => remembered.claimOf(id) === undefined) }
}
