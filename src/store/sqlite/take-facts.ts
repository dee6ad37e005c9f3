import type { Fact, RunFact, TriggerFact, WorkerFact } from '../../model/fact.js'
import type { Hold } from '../../model/hold.js'
import type { Attempt } from '../../model/run.js'
import { followFor, tickingCode } from './define.js'
import { COUNT_RUNNING } from './define-jobs.js'
import { gatesText, occupyGates } from './gates.js'
import { recordRange } from './ledger.js'
import { log } from './logs.js'
import { markLimitsChanged, takeCounters } from './meta.js'
import { putNote } from './notes.js'
import { followCode, originCode, toJson } from './rows.js'
import { remember } from './seen.js'
import type { Session } from './session.js'
import { done, phases } from './states.js'

const JOB = `insert or replace into jobs (name, source, definition) values (?, ?, ?)`

const QUEUE = `insert or replace into queues (name, concurrency) values (?, ?)`

const WORKER = `insert into workers (id, host, pid, version, started_at, lease_until, phase) values (?, ?, ?, ?, ?, ?, ?)`

const NOTICE = `insert into notices (worker, run, attempt, kind) values (?, ?, ?, ?)`

const HOLD = `insert into holds (id, target, from_at, until_at, actor, note, catch_up, is_released)
  values (?, ?, ?, ?, ?, ?, ?, ?)`

const TRIGGER = `insert into triggers (name, source, job, fingerprint, version, revision, defined_at, cursor_at, next_at,
    kept_at, chain_run, chain_ms, is_active, is_ticking) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const VERSION = `insert into versions (trigger, version, valid_from, valid_until, tzdata, definition)
  values (?, ?, ?, ?, ?, ?)`

const RUN = `insert into runs (id, job, state, priority, run_at, due_at, attempt, failures, crashes, worker, claimed_at,
    started_at, finished_at, created_at, origin, trigger, version, partition, gates, waits_for, follow,
    cancel_requested, unique_key, unique_until, labels, reason, payload, result, error)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, (select key from workers where id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?)`

const ATTEMPT = `insert into attempts (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  values (?, ?, (select key from workers where id = ?), ?, ?, ?, ?, ?)`

/** Puts facts in as they are. */
export function takeFacts(session: Session, batch: readonly Fact[]): void {
  for (const fact of batch) takeFact(session, fact)
  if (batch.some(({ kind }) => kind === 'run' || kind === 'queue')) session.db.change(COUNT_RUNNING)
}

function takeFact(session: Session, fact: Fact): void {
  const { db } = session
  switch (fact.kind) {
    case 'counters':
      return takeCounters(session, fact)
    case 'queue':
      db.change(QUEUE, fact.queue.name, fact.queue.concurrency ?? null)
      markLimitsChanged(session)
      return
    case 'job':
      db.change(JOB, fact.job.name, fact.source, JSON.stringify(fact.job))
      // The revision by which a change is noticed is a fact of its own, and may not move with it.
      session.forget()
      return
    case 'worker':
      return takeWorker(session, fact.worker)
    case 'hold':
      return takeHold(session, fact.hold, fact.isReleased)
    case 'trigger':
      return takeTrigger(session, fact.trigger)
    case 'run':
      return takeRun(session, fact.run)
    case 'log':
      return log(session, fact.lines)
    case 'range':
      recordRange(session, fact.range, fact.range.recordedAt)
      return
    case 'note':
      return putNote(session, fact.note)
    case 'seen':
      return remember(session, fact.trigger, [fact.key])
  }
}

function takeWorker({ db }: Session, worker: WorkerFact): void {
  const { id, host, pid, version, startedAt, leaseUntil, isGone } = worker
  const { lastKey } = db.run(WORKER, id, host, pid, version, startedAt, leaseUntil, isGone ? 1 : 0)
  for (const { run, attempt, kind } of worker.notices) db.change(NOTICE, lastKey, run, attempt, kind)
}

function takeHold(session: Session, hold: Hold, isReleased: boolean): void {
  const { id, target, fromAt, untilAt = null, actor, note, catchUp } = hold
  session.db.change(HOLD, id, target, fromAt, untilAt, actor, note, catchUp ? 1 : 0, isReleased ? 1 : 0)
  markLimitsChanged(session)
}

function takeTrigger(session: Session, fact: TriggerFact): void {
  const { trigger, source, version, revision, definedAt, cursorAt, nextAt, chainRun, active } = fact
  const { name, job, schedule } = trigger
  session.db.change(
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
    session.db.change(VERSION, name, version, validFrom, validUntil, tzdata, JSON.stringify(trigger))
  if (active) followFor(session, trigger)
}

function takeRun(session: Session, run: RunFact): void {
  const gates = gatesText(run.gates)
  const { lastKey } = session.db.run(
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
  for (const attempt of run.attempts) takeAttempt(session, { run, seq: lastKey, attempt })
  if (gates !== null && (run.phase === 'ready' || run.phase === 'running')) occupyGates(session, run.gates)
}

/** The row of a run that is done names the worker of its only attempt. */
function workerOf(run: RunFact): string | undefined {
  return run.worker ?? (livesInRow(run, run.attempts.at(-1)) ? run.attempts.at(-1)?.worker : undefined)
}

function takeAttempt(
  session: Session,
  { run, seq, attempt }: { run: RunFact; seq: number; attempt: Attempt },
): void {
  if (attempt.end === undefined || livesInRow(run, attempt)) return
  const { claimedAt, startedAt = null, endedAt = null, end, worker = null } = attempt
  session.db.change(
    ATTEMPT,
    seq,
    attempt.attempt,
    worker,
    claimedAt,
    startedAt,
    endedAt,
    end,
    toJson(attempt.error),
  )
}

/** A first attempt that ends done lives in the row of its run. */
function livesInRow(run: RunFact, attempt: Attempt | undefined): boolean {
  return attempt?.end === 'done' && run.attempt === 1 && phases.indexOf(run.phase) === done
}
