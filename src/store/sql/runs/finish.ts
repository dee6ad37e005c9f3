import { quarantinedReason } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import type { Finished } from '../../port.js'
import { toJson } from '../rows/run-rows.js'
import { failed, running } from '../rows/states.js'
import { UNFINISHED_COLUMNS, type EffectiveEnd, type Unfinished } from '../rows/unfinished.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { letIn, releaseAll } from './concurrency-slots.js'
import { applyTogether } from './end-effect.js'
import { endRun, leaveQueue, recordAttempt, waitAgain } from './end-run.js'
import type { WaitingRun } from './native-verbs.js'

// Relies on: the unique index of runs.id. The fence is run, attempt and state: the report of an older claim finds no
// row. The row's lock closes the race with another process that ends the same attempt.
const CLAIMED = `select ${UNFINISHED_COLUMNS} from rota.runs where id = $1 and attempt = $2 and state = ${running}
  for update`

// Relies on: primary key.
const NOTE_RESULT = `update rota.runs set started_at = $1, result = $2, error = $3, failures = failures + $4,
  crashes = crashes + $5 where seq = $6`

// Relies on: the unique index of runs.id, primary key of attempts.
const LOST = `select ${UNFINISHED_COLUMNS} from rota.runs where id = $1
  and exists (select 1 from rota.attempts where run = runs.seq and attempts.attempt = $2 and ended = 'lost')`

// Relies on: primary key.
const RELEASE = `update rota.attempts set ended = 'released', error = null where run = $1 and attempt = $2`

const NO_CRASH = `update rota.runs set crashes = greatest(0, crashes - 1) where seq = $1`

const NO_ERROR = `update rota.runs set error = null where seq = $1`

type Answer = 'stored' | 'stale'

/** What became of the reports of a turn. */
interface Finish {
  readonly answers: readonly Answer[]
  /** Runs that follow in the freed slots, but whose rows still wait: the turn claims them there, or lets them in. */
  readonly admitted: readonly WaitingRun[]
}

/** Stores decided attempts whose claims are current. */
export function* finishAll(session: Session, items: readonly Finished[], now: Instant): Verb<Finish> {
  if (items.length === 0) return { answers: [], admitted: [] }
  const ended = yield* session.native.endPlain(items)
  const answers: Answer[] = []
  let freed: string[] = []
  let effects: EffectiveEnd[] = []
  const flush = function* (): Verb<readonly WaitingRun[]> {
    const admitted = yield* releaseAll(session, freed)
    yield* applyTogether(session, effects)
    freed = []
    effects = []
    return admitted
  }
  // In the order of the ends: it decides which run is admitted if two of them free slots that one run waits for, and what
  // the last effect on a state entry is.
  for (const item of items) {
    const plain = ended.get(item.run)
    // Only the first report of a run counts: later ones find it ended.
    ended.delete(item.run)
    if (plain !== undefined) {
      if (plain.gates !== null) freed.push(plain.gates)
      if (plain.effect !== undefined) effects.push(plain.effect)
      answers.push('stored')
      continue
    }
    yield* letIn(session, yield* flush())
    answers.push(yield* finishOne(session, item, now))
  }
  const admitted = yield* flush()
  if (!answers.includes('stale')) return { answers, admitted }
  yield* letIn(session, admitted)
  for (const [i, item] of items.entries()) {
    if (answers[i] === 'stale' && item.outcome.end !== 'lost') yield* revokeCrash(session, item, now)
  }
  return { answers, admitted: [] }
}

/** A worker that reports on an attempt that was declared lost is alive: the run did not crash. */
function* revokeCrash(session: Session, { run: id, attempt }: Finished, now: Instant): Verb<void> {
  const run = yield* session.sql.get<Unfinished>(LOST, id, attempt)
  if (run === undefined) return
  // Another worker may hold the run, and it may have to wait again.
  session.beExclusive()
  yield* session.sql.change(RELEASE, run.seq, attempt)
  yield* session.sql.change(NO_CRASH, run.seq)
  if (run.state !== failed || run.reason !== quarantinedReason || run.attempt !== attempt) return
  yield* session.sql.change(NO_ERROR, run.seq)
  yield* waitAgain(session, run, { runAt: now, now, reason: undefined })
}

/** Whether an attempt is the first and done, which is the most frequent end. */
export function isPlainEnd({ attempt, outcome }: Finished): boolean {
  return attempt === 1 && outcome.end === 'done' && outcome.state === 'done' && outcome.reason === undefined
}

function* finishOne(session: Session, item: Finished, now: Instant): Verb<Answer> {
  const run = yield* session.sql.get<Unfinished>(CLAIMED, item.run, item.attempt)
  if (run === undefined) return 'stale'
  const { outcome, startedAt, endedAt } = item
  const { end, error } = outcome
  if (end !== 'done' || item.attempt > 1)
    yield* recordAttempt(session, run, { startedAt, endedAt, end, error })
  const failures = end === 'failed' || end === 'timed-out' ? 1 : 0
  const crashes = end === 'lost' ? 1 : 0
  const result = toJson(outcome.result)
  yield* session.sql.change(NOTE_RESULT, startedAt ?? null, result, toJson(error), failures, crashes, run.seq)
  if (outcome.state !== 'pending') {
    const asked = outcome.state === 'cancelled' ? (run.reason ?? undefined) : undefined
    yield* endRun(session, run, { state: outcome.state, at: endedAt, reason: outcome.reason ?? asked })
  } else if (run.cancel_requested === 1) {
    // The cancel was accepted, so the run must not be retried.
    yield* endRun(session, run, { state: 'cancelled', at: endedAt, reason: run.reason ?? undefined })
  } else {
    yield* leaveQueue(session, run.job, 1)
    yield* waitAgain(session, run, { runAt: outcome.runAt ?? now, now, reason: outcome.reason })
  }
  return 'stored'
}
