import type { Fact, RunFact, TriggerFact, WorkerFact } from '../../model/fact.js'
import type { Hold } from '../../model/hold.js'
import type { Attempt } from '../../model/run.js'
import { followFor, tickingCode } from './define.js'
import { COUNT_RUNNING, writeJobs } from './define-jobs.js'
import { gatesText, occupyGates } from './gates.js'
import { recordRange } from './ledger.js'
import { log } from './logs.js'
import { markLimitsChanged, takeCounters } from './meta.js'
import { putNote } from './notes.js'
import { followCode, originCode, toJson } from './rows.js'
import { remember } from './seen.js'
import type { Session } from './session.js'
import { done, phases } from './states.js'

const QUEUE = `insert into rota.queues (name, concurrency) values ($1, $2)
  on conflict (name) do update set concurrency = excluded.concurrency`

const WORKER = `insert into rota.workers (id, host, pid, version, started_at, lease_until, phase)
  values ($1, $2, $3, $4, $5, $6, $7) returning key`

const NOTICE = `insert into rota.notices (worker, run, attempt, kind) values ($1, $2, $3, $4)`

const HOLD = `insert into rota.holds (id, target, from_at, until_at, actor, note, catch_up, is_released)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`

const TRIGGER = `insert into rota.triggers (name, source, job, fingerprint, version, revision, defined_at, cursor_at,
    next_at, kept_at, chain_run, chain_ms, is_active, is_ticking)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

const VERSION = `insert into rota.versions (trigger, version, valid_from, valid_until, tzdata, definition)
  values ($1, $2, $3, $4, $5, $6)`

const RUN = `insert into rota.runs (id, job, state, priority, run_at, due_at, attempt, failures, crashes, worker,
    claimed_at, started_at, finished_at, created_at, origin, trigger, version, partition, gates, waits_for, follow,
    cancel_requested, unique_key, unique_until, labels, reason, payload, result, error)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, (select key from rota.workers where id = $10), $11, $12, $13, $14, $15,
    $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29) returning seq`

const ATTEMPT = `insert into rota.attempts (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  values ($1, $2, (select key from rota.workers where id = $3), $4, $5, $6, $7, $8)`

/** Puts facts in as they are. */
export async function takeFacts(session: Session, batch: readonly Fact[]): Promise<void> {
  session.beAlone()
  for (const fact of batch) await takeFact(session, fact)
  if (batch.some(({ kind }) => kind === 'run' || kind === 'queue')) await session.db.change(COUNT_RUNNING)
}

async function takeFact(session: Session, fact: Fact): Promise<void> {
  const { db } = session
  switch (fact.kind) {
    case 'counters':
      return await takeCounters(session, fact)
    case 'queue':
      await db.change(QUEUE, fact.queue.name, fact.queue.concurrency ?? null)
      return await markLimitsChanged(session)
    case 'job':
      await writeJobs(session, [fact.job], fact.source)
      return session.doubtCatalog()
    case 'worker':
      return await takeWorker(session, fact.worker)
    case 'hold':
      return await takeHold(session, fact.hold, fact.isReleased)
    case 'trigger':
      return await takeTrigger(session, fact.trigger)
    case 'run':
      return await takeRun(session, fact.run)
    case 'log':
      return await log(session, fact.lines)
    case 'range':
      await recordRange(session, fact.range, fact.range.recordedAt)
      return
    case 'note':
      return await putNote(session, fact.note)
    case 'seen':
      return await remember(session, fact.trigger, [fact.key])
  }
}

async function takeWorker({ db }: Session, worker: WorkerFact): Promise<void> {
  const { id, host, pid, version, startedAt, leaseUntil, isGone } = worker
  const values = [id, host, pid, version, startedAt, leaseUntil, isGone ? 1 : 0] as const
  const [row] = await db.changed<{ key: number }>(WORKER, ...values)
  const { key } = row as { key: number }
  for (const { run, attempt, kind } of worker.notices) await db.change(NOTICE, key, run, attempt, kind)
}

async function takeHold(session: Session, hold: Hold, isReleased: boolean): Promise<void> {
  const { id, target, fromAt, untilAt = null, actor, note, catchUp } = hold
  const marks = [catchUp ? 1 : 0, isReleased ? 1 : 0] as const
  await session.db.change(HOLD, id, target, fromAt, untilAt, actor, note, ...marks)
  await markLimitsChanged(session)
}

async function takeTrigger(session: Session, fact: TriggerFact): Promise<void> {
  const { trigger, source, version, revision, definedAt, cursorAt, nextAt, chainRun, active } = fact
  const { name, job, schedule } = trigger
  await session.db.change(
    TRIGGER,
    name,
    source,
    job,
    fact.fingerprint,
    version,
    revision,
    definedAt,
    cursorAt,
    nextAt ?? null,
    fact.keptAt ?? null,
    chainRun ?? null,
    schedule.kind === 'after-finish' ? schedule.everyMs : null,
    active ? 1 : 0,
    active ? tickingCode(trigger) : 0,
  )
  for (const { version, validFrom, validUntil = null, tzdata, trigger } of fact.versions)
    await session.db.change(VERSION, name, version, validFrom, validUntil, tzdata, JSON.stringify(trigger))
  if (active) await followFor(session, trigger)
}

async function takeRun(session: Session, run: RunFact): Promise<void> {
  const gates = gatesText(run.gates)
  const [row] = await session.db.changed<{ seq: number }>(
    RUN,
    run.id,
    run.job,
    phases.indexOf(run.phase),
    run.priority,
    run.runAt,
    run.dueAt,
    run.attempt,
    run.failures,
    run.crashes,
    workerOf(run) ?? null,
    run.claimedAt ?? null,
    run.startedAt ?? null,
    run.finishedAt ?? null,
    run.createdAt,
    originCode(run.origin),
    run.trigger ?? null,
    run.version ?? null,
    run.partition ?? null,
    gates,
    run.waitsFor ?? null,
    followCode(run.follow),
    run.cancelRequested ? 1 : null,
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
    toJson(run.labels),
    run.reason ?? null,
    toJson(run.payload),
    toJson(run.result),
    toJson(run.error),
  )
  const { seq } = row as { seq: number }
  for (const attempt of run.attempts) await takeAttempt(session, { run, seq, attempt })
  if (gates !== null && (run.phase === 'ready' || run.phase === 'running'))
    await occupyGates(session, run.gates)
}

/** The row of a run that is done names the worker of its only attempt. */
function workerOf(run: RunFact): string | undefined {
  return run.worker ?? (livesInRow(run, run.attempts.at(-1)) ? run.attempts.at(-1)?.worker : undefined)
}

async function takeAttempt(
  session: Session,
  { run, seq, attempt }: { run: RunFact; seq: number; attempt: Attempt },
): Promise<void> {
  if (attempt.end === undefined || livesInRow(run, attempt)) return
  const { claimedAt, startedAt = null, endedAt = null, end, worker = null } = attempt
  const values = [claimedAt, startedAt, endedAt, end, toJson(attempt.error)] as const
  await session.db.change(ATTEMPT, seq, attempt.attempt, worker, ...values)
}

/** A first attempt that ends done lives in the row of its run. */
function livesInRow(run: RunFact, attempt: Attempt | undefined): boolean {
  return attempt?.end === 'done' && run.attempt === 1 && phases.indexOf(run.phase) === done
}
