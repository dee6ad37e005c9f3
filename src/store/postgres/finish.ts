import { quarantinedReason } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { Finished } from '../port.js'
import { toJson } from '../sql/rows/run-rows.js'
import { delayed, done, failed, ready, running } from '../sql/rows/states.js'
import { UNFINISHED_COLUMNS, type Unfinished } from '../sql/rows/unfinished.js'
import { endRun, leaveQueue, recordAttempt } from './end-run.js'
import { admit, releaseGates } from './gates.js'
import type { Session } from './session.js'

// Relies on: the unique index of runs.id; the sum keeps the server from going through all that is held instead. The
// fence is run, attempt and state: what an older claim reports finds no row.
const END_PLAIN = `update rota.runs set state = ${done}, started_at = ended.started_at, finished_at = ended.finished_at,
    result = ended.result, reason = null
  from unnest($1::text[], $2::int8[], $3::int8[], $4::text[]) ended (id, started_at, finished_at, result)
  where runs.id = ended.id and state + 0 = ${running} and attempt = 1 and follow is null
  returning runs.id, runs.job, runs.gates`

// Relies on: the unique index of runs.id. The row's lock closes the race with whoever ends the same attempt.
const CLAIMED = `select ${UNFINISHED_COLUMNS} from rota.runs where id = $1 and attempt = $2 and state = ${running}
  for update`

// Relies on: primary key.
const NOTE_RESULT = `update rota.runs set started_at = $1, result = $2, error = $3, failures = failures + $4,
  crashes = crashes + $5 where seq = $6`

// Relies on: the unique index of runs.id, primary key of attempts.
const LOST = `select 1 from rota.runs join rota.attempts on attempts.run = runs.seq
  where runs.id = $1 and attempts.attempt = $2 and attempts.ended = 'lost'`

// Relies on: the unique index of runs.id.
const RUN = `select ${UNFINISHED_COLUMNS} from rota.runs where id = $1`

// Relies on: primary key.
const RELEASE = `update rota.attempts set ended = 'released', error = null where run = $1 and attempt = $2`

const NO_CRASH = `update rota.runs set crashes = greatest(0, crashes - 1) where seq = $1`

const NO_ERROR = `update rota.runs set error = null where seq = $1`

const WAIT_AGAIN = `update rota.runs set state = $1, run_at = $2, reason = $3, finished_at = null where seq = $4`

type Answer = 'stored' | 'stale'

interface Ended {
  readonly id: string
  readonly job: string
  readonly gates: string | null
}

/** Stores decided attempts where their claims are current. */
export async function finishAll(
  session: Session,
  items: readonly Finished[],
  now: Instant,
): Promise<Answer[]> {
  // Only the first report of a run counts: the ones behind it find it ended.
  const first = new Set(new Map(items.toReversed().map((item) => [item.run, item])).values())
  const plain = items.filter((item) => isPlainEnd(item) && first.has(item))
  const ended = await endPlain(session, plain)
  const answers: Answer[] = []
  // In the order of the ends: it decides who is let in where two of them freed gates that one run waits for.
  for (const item of items) {
    const row = isPlainEnd(item) && first.has(item) ? ended.get(item.run) : undefined
    if (row === undefined) {
      answers.push(await finishOne(session, item, now))
      continue
    }
    if (row.gates !== null) await releaseGates(session, row.gates)
    answers.push('stored')
  }
  for (const [i, item] of items.entries()) {
    if (answers[i] === 'stale' && item.outcome.end !== 'lost') await revokeCrash(session, item, now)
  }
  session.afterCommit(() => {
    for (const [i, { run }] of items.entries())
      if (answers[i] === 'stored') session.remembered.forgetClaim(run)
  })
  return answers
}

/** Whoever reports on an attempt that was taken for lost lives: it gave up its lease, which is no crash of the run. */
async function revokeCrash(session: Session, { run: id, attempt }: Finished, now: Instant): Promise<void> {
  const { db } = session
  if ((await db.value(LOST, id, attempt)) === undefined) return
  // The run may be held by others, and may have to wait again.
  session.beExclusive()
  const run = (await db.get<Unfinished>(RUN, id)) as Unfinished
  await db.change(RELEASE, run.seq, attempt)
  await db.change(NO_CRASH, run.seq)
  if (run.state !== failed || run.reason !== quarantinedReason || run.attempt !== attempt) return
  await db.change(NO_ERROR, run.seq)
  await waitAgain(session, run, { runAt: now, now, reason: undefined })
}

/** The usual end: a first attempt that is done. */
export function isPlainEnd({ attempt, outcome }: Finished): boolean {
  return attempt === 1 && outcome.end === 'done' && outcome.state === 'done' && outcome.reason === undefined
}

/** Ends all that end in the usual way with one statement. */
async function endPlain(session: Session, plain: readonly Finished[]): Promise<Map<string, Ended>> {
  if (plain.length === 0) return new Map()
  const rows = await session.db.changed<Ended>(
    END_PLAIN,
    plain.map(({ run }) => run),
    plain.map(({ startedAt = null }) => startedAt),
    plain.map(({ endedAt }) => endedAt),
    plain.map(({ outcome }) => toJson(outcome.result)),
  )
  const byJob = new Map<string, number>()
  for (const { job } of rows) byJob.set(job, (byJob.get(job) ?? 0) + 1)
  for (const [job, count] of byJob) await leaveQueue(session, job, count)
  return new Map(rows.map((row) => [row.id, row]))
}

async function finishOne(session: Session, item: Finished, now: Instant): Promise<Answer> {
  const { db } = session
  const run = await db.get<Unfinished>(CLAIMED, item.run, item.attempt)
  if (run === undefined) return 'stale'
  const { outcome, startedAt, endedAt } = item
  const { end, error } = outcome
  if (end !== 'done' || item.attempt > 1) {
    await recordAttempt(session, run, { startedAt, endedAt, end, error })
  }
  const failures = end === 'failed' || end === 'timed-out' ? 1 : 0
  const crashes = end === 'lost' ? 1 : 0
  const result = toJson(outcome.result)
  await db.change(NOTE_RESULT, startedAt ?? null, result, toJson(error), failures, crashes, run.seq)
  if (outcome.state !== 'pending') {
    const asked = outcome.state === 'cancelled' ? (run.reason ?? undefined) : undefined
    await endRun(session, run, { state: outcome.state, at: endedAt, reason: outcome.reason ?? asked })
  } else if (run.cancel_requested === 1) {
    // Whoever asked for the end was promised it; another try would break that.
    await endRun(session, run, { state: 'cancelled', at: endedAt, reason: run.reason ?? undefined })
  } else {
    await leaveQueue(session, run.job, 1)
    await waitAgain(session, run, { runAt: outcome.runAt ?? now, now, reason: outcome.reason })
  }
  return 'stored'
}

/** Makes a run that held its gates or was final wait again; what waits at its gates goes first. */
export async function waitAgain(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'job' | 'state' | 'gates'>,
  wait: { runAt: Instant; now: Instant; reason: string | undefined },
): Promise<void> {
  const isDue = wait.runAt <= wait.now
  const state = isDue && run.gates === null ? ready : delayed
  session.hasNews = true
  await session.db.change(WAIT_AGAIN, state, wait.runAt, wait.reason ?? null, run.seq)
  if (run.gates === null) return
  if (run.state === running) await releaseGates(session, run.gates)
  if (isDue) await admit(session, { seq: run.seq, job: run.job, gates: run.gates })
}
