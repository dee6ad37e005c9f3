import type { Fact, RunFact, TriggerFact, WorkerFact } from '../../kernel/run/fact.js'
import type { Hold } from '../../kernel/hold/hold.js'
import {
  ATTEMPT_COLUMNS,
  attemptRows,
  HOLD_COLUMNS,
  holdValues,
  RUN_COLUMNS,
  runValues,
  TRIGGER_FACT_COLUMNS,
  triggerFactValues,
  WORKER_COLUMNS,
  workerValues,
} from '../sql/facts/fact-values.js'
import { endEffectCode } from '../sql/rows/run-rows.js'
import { followFor } from './define.js'
import { COUNT_RUNNING } from './define-jobs.js'
import { gatesText, occupyGates } from './gates.js'
import { recordRanges } from '../sql/planning/ledger.js'
import { log } from '../sql/work/logs.js'
import { markLimitsChanged, takeCounters } from '../sql/meta.js'
import { putStateEntry } from '../sql/state.js'
import { remember } from '../sql/planning/seen.js'
import type { Session } from './session.js'

const JOB = `insert or replace into jobs (name, source, definition) values (?, ?, ?)`

const QUEUE = `insert or replace into queues (name, concurrency) values (?, ?)`

const WORKER = `insert into workers (${WORKER_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const NOTICE = `insert into notices (worker, run, attempt, kind) values (?, ?, ?, ?)`

const HOLD = `insert into holds (${HOLD_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`

const TRIGGER = `insert into triggers (${TRIGGER_FACT_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const VERSION = `insert into versions (trigger, version, valid_from, valid_until, tzdata, definition)
  values (?, ?, ?, ?, ?, ?)`

const RUN = `insert into runs (${RUN_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, (select key from workers where id = ?),
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const ATTEMPT = `insert into attempts (run, ${ATTEMPT_COLUMNS})
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
      return session.db.perform(takeCounters(session, fact))
    case 'queue':
      db.change(QUEUE, fact.queue.name, fact.queue.concurrency ?? null)
      session.db.perform(markLimitsChanged(session))
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
      return session.db.perform(log(fact.lines))
    case 'range':
      session.db.perform(recordRanges([fact.range], fact.range.recordedAt))
      return
    case 'note':
      return session.db.perform(putStateEntry(fact.note))
    case 'seen':
      return session.db.perform(remember(fact.trigger, [fact.key]))
  }
}

function takeWorker({ db }: Session, worker: WorkerFact): void {
  const { lastKey } = db.run(WORKER, ...workerValues(worker))
  for (const { run, attempt, kind } of worker.notices) db.change(NOTICE, lastKey, run, attempt, kind)
}

function takeHold(session: Session, hold: Hold, isReleased: boolean): void {
  session.db.change(HOLD, ...holdValues(hold, isReleased))
  session.db.perform(markLimitsChanged(session))
}

function takeTrigger(session: Session, fact: TriggerFact): void {
  const { name } = fact.trigger
  session.db.change(TRIGGER, ...triggerFactValues(fact))
  for (const { version, validFrom, validUntil = null, tzdata, trigger } of fact.versions)
    session.db.change(VERSION, name, version, validFrom, validUntil, tzdata, JSON.stringify(trigger))
  if (fact.active) followFor(session, fact.trigger)
}

function takeRun(session: Session, run: RunFact): void {
  const gates = gatesText(run.gates)
  const effect = endEffectCode(session.endEffects, run.endEffect)
  const { lastKey } = session.db.run(RUN, ...runValues(run, { gates, effect }))
  for (const attempt of attemptRows(run)) session.db.change(ATTEMPT, lastKey, ...attempt)
  if (gates !== null && (run.phase === 'ready' || run.phase === 'running')) occupyGates(session, run.gates)
}
