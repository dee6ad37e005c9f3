import type { Fact, RunFact, TriggerFact, WorkerFact } from '../../../kernel/run/fact.js'
import type { Hold } from '../../../kernel/hold/hold.js'
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
} from './fact-values.js'
import { putEntry } from '../audit.js'
import { endEffectCode } from '../rows/run-rows.js'
import { writeFollowers } from '../planning/define.js'
import { countRunning, writeJobs, writeQueue } from '../planning/define-jobs.js'
import { occupySlots, slotsText } from '../runs/concurrency-slots.js'
import { recordRanges } from '../planning/ledger.js'
import { log } from '../runs/logs.js'
import { markLimitsChanged, takeCounters } from '../meta.js'
import { putStateEntry } from '../state.js'
import { remember } from '../planning/seen-keys.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

const WORKER = `insert into rota.workers (${WORKER_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning key`

const NOTICE = `insert into rota.notices (worker, run, attempt, kind) values ($1, $2, $3, $4)`

const HOLD = `insert into rota.holds (${HOLD_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)`

const TRIGGER = `insert into rota.triggers (${TRIGGER_FACT_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

const VERSION = `insert into rota.versions (trigger, version, valid_from, valid_until, tzdata, definition)
  values ($1, $2, $3, $4, $5, $6)`

const RUN = `insert into rota.runs (${RUN_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, (select key from rota.workers where id = $10), $11, $12, $13, $14,
    $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29) returning seq`

const ATTEMPT = `insert into rota.attempts (run, ${ATTEMPT_COLUMNS})
  values ($1, $2, (select key from rota.workers where id = $3), $4, $5, $6, $7, $8)`

/** Inserts facts unchanged. */
export function* takeFacts(session: Session, batch: readonly Fact[]): Verb<void> {
  session.beExclusive()
  for (const fact of batch) yield* takeFact(session, fact)
  if (batch.some(({ kind }) => kind === 'run' || kind === 'queue')) yield* countRunning(session)
}

function* takeFact(session: Session, fact: Fact): Verb<void> {
  switch (fact.kind) {
    case 'counters':
      return yield* takeCounters(session, fact)
    case 'queue':
      yield* writeQueue(session, fact.queue)
      return yield* markLimitsChanged(session)
    case 'job':
      yield* writeJobs(session, [fact.job], fact.source)
      // The revision is a separate fact, so it may not have changed.
      return session.forgetCatalog()
    case 'worker':
      return yield* takeWorker(session, fact.worker)
    case 'hold':
      return yield* takeHold(session, fact.hold, fact.isReleased)
    case 'trigger':
      return yield* takeTrigger(session, fact.trigger)
    case 'run':
      return yield* takeRun(session, fact.run)
    case 'log':
      return yield* log(session, fact.lines)
    case 'range':
      yield* recordRanges(session, [fact.range], fact.range.recordedAt)
      return
    case 'note':
      return yield* putStateEntry(session, fact.note)
    case 'seen':
      return yield* remember(session, fact.trigger, [fact.key])
    case 'audit':
      return yield* putEntry(session, fact.entry)
  }
}

function* takeWorker(session: Session, worker: WorkerFact): Verb<void> {
  const { key } = (yield* session.sql.get<{ key: number }>(WORKER, ...workerValues(worker))) as {
    key: number
  }
  for (const { run, attempt, kind } of worker.notices)
    yield* session.sql.change(NOTICE, key, run, attempt, kind)
}

function* takeHold(session: Session, hold: Hold, isReleased: boolean): Verb<void> {
  yield* session.sql.change(HOLD, ...holdValues(hold, isReleased))
  yield* markLimitsChanged(session)
}

function* takeTrigger(session: Session, fact: TriggerFact): Verb<void> {
  const { name } = fact.trigger
  yield* session.sql.change(TRIGGER, ...triggerFactValues(fact))
  for (const { version, validFrom, validUntil = null, tzdata, trigger } of fact.versions)
    yield* session.sql.change(VERSION, name, version, validFrom, validUntil, tzdata, JSON.stringify(trigger))
  if (fact.active) yield* writeFollowers(session, fact.trigger)
}

function* takeRun(session: Session, run: RunFact): Verb<void> {
  const gates = slotsText(run.slots)
  const effect = endEffectCode(session.endEffects, run.endEffect)
  const values = runValues(run, { gates, effect })
  const { seq } = (yield* session.sql.get<{ seq: number }>(RUN, ...values)) as { seq: number }
  for (const attempt of attemptRows(run)) yield* session.sql.change(ATTEMPT, seq, ...attempt)
  if (gates !== null && (run.phase === 'ready' || run.phase === 'running'))
    yield* occupySlots(session, run.slots)
}
