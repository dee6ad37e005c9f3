import type { RunId } from '../../kernel/identity/identity.js'
import { removedReason } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { cancelled, delayed, done, failed, running } from '../sql/rows/states.js'
import { UNFINISHED_COLUMNS, type Unfinished } from '../sql/rows/unfinished.js'
import { endRun, recordAttempt } from './end-run.js'
import { waitAgain } from './finish.js'
import type { Session } from './session.js'

// Relies on: the unique index of runs.id. Whoever asks is alone, so the row stays as it was read.
const RUN = `select ${UNFINISHED_COLUMNS}, run_at from rota.runs where id = $1`

// Relies on: primary key.
const REQUEST = `update rota.runs set cancel_requested = 1, reason = $1 where seq = $2`

const TELL = `insert into rota.notices (worker, run, attempt, kind) values ($1, $2, $3, $4)`

const FRESH_BUDGET = `update rota.runs set failures = 0, crashes = 0, cancel_requested = null, error = null
  where seq = $1`

// Relies on: runs_unfinished.
const UNFINISHED_OF_TRIGGER = `select id from rota.runs where trigger = $1 and state < ${done} order by id`

/** Cancels a pending run, or asks the holder of a running one. */
export async function cancel(
  session: Session,
  request: { run: RunId; now: Instant; reason: string },
): Promise<'cancelled' | 'requested' | 'final' | 'absent'> {
  session.beExclusive()
  const run = await session.db.get<Unfinished>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state >= done) return 'final'
  session.hasNews = true
  if (run.state === running) {
    await requestCancel(session, run, request.reason)
    return 'requested'
  }
  await endRun(session, run, { state: 'cancelled', at: request.now, reason: request.reason })
  return 'cancelled'
}

/** Gives a failed or cancelled run a fresh budget and lets it wait again. */
export async function retry(
  session: Session,
  request: { run: RunId; now: Instant },
): Promise<'pending' | 'not-final' | 'absent'> {
  session.beExclusive()
  const run = await session.db.get<Unfinished>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state !== failed && run.state !== cancelled) return 'not-final'
  await session.db.change(FRESH_BUDGET, run.seq)
  await waitAgain(session, run, { runAt: request.now, now: request.now, reason: undefined })
  return 'pending'
}

/** Lets a delayed run be claimed before its instant. */
export async function advance(
  session: Session,
  request: { run: RunId; now: Instant },
): Promise<'advanced' | 'not-waiting' | 'absent'> {
  session.beExclusive()
  const { now } = request
  const run = await session.db.get<Unfinished & { run_at: Instant }>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state !== delayed || run.run_at <= now) return 'not-waiting'
  await waitAgain(session, run, { runAt: now, now, reason: undefined })
  return 'advanced'
}

/** Cancels the runs of a trigger that still wait; one that is being performed may finish, and does not wait again. */
export async function cancelPending(session: Session, trigger: string, now: Instant): Promise<void> {
  for await (const run of unfinishedOf(session, trigger)) {
    if (run.state !== running)
      await endRun(session, run, { state: 'cancelled', at: now, reason: removedReason })
    else if (run.cancel_requested !== 1) await session.db.change(REQUEST, removedReason, run.seq)
  }
}

/** Ends or stops the older unfinished runs of a trigger. */
export async function supersede(
  session: Session,
  request: {
    trigger: string
    mode: 'cancel' | 'terminate'
    by: RunId
    own: ReadonlySet<RunId>
    now: Instant
  },
): Promise<void> {
  const { mode, now } = request
  const reason = `superseded by ${request.by}`
  for await (const run of unfinishedOf(session, request.trigger)) {
    if (request.own.has(run.id)) continue
    if (run.state !== running) await endRun(session, run, { state: 'cancelled', at: now, reason })
    else if (mode === 'cancel') await requestCancel(session, run, reason)
    else await terminate(session, run, { at: now, reason })
  }
}

/** Each row is read when its turn comes: the end of the one before may have let it in. */
async function* unfinishedOf(session: Session, trigger: string): AsyncGenerator<Unfinished> {
  for (const { id } of await session.db.all<{ id: string }>(UNFINISHED_OF_TRIGGER, trigger)) {
    const run = await session.db.get<Unfinished>(RUN, id)
    if (run !== undefined) yield run
  }
}

/** Asks the holder of a running run to stop, once. */
async function requestCancel(session: Session, run: Unfinished, reason: string): Promise<void> {
  // The removal of a trigger asks for no stop.
  if (run.cancel_requested === 1 && run.reason !== removedReason) return
  await session.db.change(REQUEST, reason, run.seq)
  await session.db.change(TELL, run.worker, run.id, run.attempt, 'cancel')
}

/** Closes a claim at once: its holder is told to stop, and nothing it says later counts. */
async function terminate(
  session: Session,
  run: Unfinished,
  end: { at: Instant; reason: string },
): Promise<void> {
  await session.db.change(TELL, run.worker, run.id, run.attempt, 'terminate')
  await recordAttempt(session, run, {
    startedAt: undefined,
    endedAt: end.at,
    end: 'cancelled',
    error: undefined,
  })
  await endRun(session, run, { state: 'cancelled', ...end })
}
