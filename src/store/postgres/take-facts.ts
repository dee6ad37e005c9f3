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
import { COUNT_RUNNING, writeJobs } from './define-jobs.js'
import { gatesText, occupyGates } from './gates.js'
import { recordRanges } from '../sql/planning/ledger.js'
import { log } from '../sql/work/logs.js'
import { markLimitsChanged, takeCounters } from '../sql/meta.js'
import { putStateEntry } from '../sql/state.js'
import { remember } from '../sql/planning/seen.js'
import type { Session } from './session.js'

const QUEUE = `insert into rota.queues (name, concurrency) values ($1, $2)
  on conflict (name) do update set concurrency = excluded.concurrency`

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

/** Puts facts in as they are. */
export async function takeFacts(session: Session, batch: readonly Fact[]): Promise<void> {
  session.beExclusive()
  for (const fact of batch) await takeFact(session, fact)
  if (batch.some(({ kind }) => kind === 'run' || kind === 'queue')) await session.db.change(COUNT_RUNNING)
}

async function takeFact(session: Session, fact: Fact): Promise<void> {
  const { db } = session
  switch (fact.kind) {
    case 'counters':
      return await session.db.perform(takeCounters(session, fact))
    case 'queue':
      await db.change(QUEUE, fact.queue.name, fact.queue.concurrency ?? null)
      return await session.db.perform(markLimitsChanged(session))
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
      return await session.db.perform(log(fact.lines))
    case 'range':
      await session.db.perform(recordRanges([fact.range], fact.range.recordedAt))
      return
    case 'note':
      return await session.db.perform(putStateEntry(fact.note))
    case 'seen':
      return await session.db.perform(remember(fact.trigger, [fact.key]))
  }
}

async function takeWorker({ db }: Session, worker: WorkerFact): Promise<void> {
  const [row] = await db.changed<{ key: number }>(WORKER, ...workerValues(worker))
  const { key } = row as { key: number }
  for (const { run, attempt, kind } of worker.notices) await db.change(NOTICE, key, run, attempt, kind)
}

async function takeHold(session: Session, hold: Hold, isReleased: boolean): Promise<void> {
  await session.db.change(HOLD, ...holdValues(hold, isReleased))
  await session.db.perform(markLimitsChanged(session))
}

async function takeTrigger(session: Session, fact: TriggerFact): Promise<void> {
  const { name } = fact.trigger
  await session.db.change(TRIGGER, ...triggerFactValues(fact))
  for (const { version, validFrom, validUntil = null, tzdata, trigger } of fact.versions)
    await session.db.change(VERSION, name, version, validFrom, validUntil, tzdata, JSON.stringify(trigger))
  if (fact.active) await followFor(session, fact.trigger)
}

async function takeRun(session: Session, run: RunFact): Promise<void> {
  const gates = gatesText(run.gates)
  const effect = endEffectCode(session.endEffects, run.endEffect)
  const [row] = await session.db.changed<{ seq: number }>(RUN, ...runValues(run, { gates, effect }))
  const { seq } = row as { seq: number }
  for (const attempt of attemptRows(run)) await session.db.change(ATTEMPT, seq, ...attempt)
  if (gates !== null && (run.phase === 'ready' || run.phase === 'running'))
    await occupyGates(session, run.gates)
}
