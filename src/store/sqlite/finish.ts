import { quarantinedReason } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { Finished } from '../port.js'
import { toJson } from '../sql/rows/run-rows.js'
import { delayed, done, failed, ready, running } from '../sql/rows/states.js'
import { UNFINISHED_COLUMNS, type Unfinished } from '../sql/rows/unfinished.js'
import { endRun, leaveQueue, recordAttempt } from './end-run.js'
import { admit, releaseGates } from './gates.js'
import type { PlainClaim, Session } from './session.js'

// Relies on: primary key. The fence is run, attempt and state: what an older claim reports finds no row. A key is never
// given twice, so the key of a claim is as good as its run's id.
const END_PLAIN = `update runs set state = ${done}, started_at = ?, finished_at = ?, result = ?, reason = null
  where state = ${running} and attempt = 1 and seq in (select value from json_each(?))`

// Relies on: primary key. Asked only where some were stale; nobody else can have ended a first attempt as done.
const ENDED = `select json_group_array(seq) from runs
  where state = ${done} and attempt = 1 and finished_at = ? and seq in (select value from json_each(?))`

// Relies on: the unique index of runs.id.
const CLAIMED = `select ${UNFINISHED_COLUMNS} from runs where id = ? and attempt = ? and state = ${running}`

// Relies on: primary key.
const NOTE_RESULT = `update runs set started_at = ?, result = ?, error = ?, failures = failures + ?,
  crashes = crashes + ? where seq = ?`

// Relies on: the unique index of runs.id, primary key of attempts.
const LOST = `select ${UNFINISHED_COLUMNS} from runs where id = ?
  and exists (select 1 from attempts where run = runs.seq and attempt = ? and ended = 'lost')`

// Relies on: primary key.
const RELEASE = `update attempts set ended = 'released', error = null where run = ? and attempt = ?`

const NO_CRASH = `update runs set crashes = max(0, crashes - 1) where seq = ?`

const NO_ERROR = `update runs set error = null where seq = ?`

const WAIT_AGAIN = `update runs set state = ?, run_at = ?, reason = ?, finished_at = null where seq = ?`

type Answer = 'stored' | 'stale'

/** Plain ends that have everything in common: one statement for all of them. */
interface PlainGroup {
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant
  readonly result: string | null
  readonly members: { readonly claim: PlainClaim; readonly index: number }[]
}

/** Stores decided attempts where their claims are current. */
export function finishAll(session: Session, items: readonly Finished[], now: Instant): Answer[] {
  const answers: Answer[] = items.map(() => 'stale')
  const groups = new Map<string, PlainGroup>()
  const others: { readonly index: number; readonly gates: string | undefined }[] = []
  for (const [index, item] of items.entries()) {
    const claim = session.takeClaim(item.run)
    const isPlain = claim !== undefined && isPlainEnd(item)
    if (isPlain) addToGroup(groups, item, { claim, index })
    if (!isPlain) others.push({ index, gates: undefined })
    else if (claim.gates !== null) others.push({ index, gates: claim.gates })
  }
  for (const group of groups.values()) endGroup(session, group, answers)
  // In the order of the ends: it decides who is let in where two of them freed gates that one run waits for.
  for (const { index, gates } of others) {
    if (gates === undefined) answers[index] = finishOne(session, items[index] as Finished, now)
    else if (answers[index] === 'stored') releaseGates(session, gates)
  }
  for (const [index, item] of items.entries()) {
    if (answers[index] === 'stale' && item.outcome.end !== 'lost') revokeCrash(session, item, now)
  }
  return answers
}

/** Whoever reports on an attempt that was taken for lost lives: it gave up its lease, which is no crash of the run. */
function revokeCrash(session: Session, { run: id, attempt }: Finished, now: Instant): void {
  const { db } = session
  const run = db.get<Unfinished>(LOST, id, attempt)
  if (run === undefined) return
  db.change(RELEASE, run.seq, attempt)
  db.change(NO_CRASH, run.seq)
  if (run.state !== failed || run.reason !== quarantinedReason || run.attempt !== attempt) return
  db.change(NO_ERROR, run.seq)
  waitAgain(session, run, { runAt: now, now, reason: undefined })
}

/** The usual end: a first attempt that is done. */
function isPlainEnd({ attempt, outcome }: Finished): boolean {
  return attempt === 1 && outcome.end === 'done' && outcome.state === 'done' && outcome.reason === undefined
}

function addToGroup(
  groups: Map<string, PlainGroup>,
  item: Finished,
  member: PlainGroup['members'][number],
): void {
  const { startedAt, endedAt } = item
  const result = toJson(item.outcome.result)
  const key = `${startedAt} ${endedAt} ${result}`
  const known = groups.get(key)
  if (known === undefined) groups.set(key, { startedAt, endedAt, result, members: [member] })
  else known.members.push(member)
}

function endGroup(session: Session, group: PlainGroup, answers: Answer[]): void {
  const { startedAt = null, endedAt, result, members } = group
  const seqs = JSON.stringify(members.map(({ claim }) => claim.seq))
  const changes = session.db.change(END_PLAIN, startedAt, endedAt, result, seqs)
  const ended =
    changes === members.length ? undefined : new Set(session.db.json<number[]>(ENDED, endedAt, seqs))
  for (const { claim, index } of members) {
    if (ended?.has(claim.seq) === false) continue
    answers[index] = 'stored'
    leaveQueue(session, claim.job, 1)
  }
}

function finishOne(session: Session, item: Finished, now: Instant): Answer {
  const { db } = session
  const run = db.get<Unfinished>(CLAIMED, item.run, item.attempt)
  if (run === undefined) return 'stale'
  const { outcome, startedAt, endedAt } = item
  const { end, error } = outcome
  if (end !== 'done' || item.attempt > 1) recordAttempt(session, run, { startedAt, endedAt, end, error })
  const failures = end === 'failed' || end === 'timed-out' ? 1 : 0
  const crashes = end === 'lost' ? 1 : 0
  db.change(NOTE_RESULT, startedAt ?? null, toJson(outcome.result), toJson(error), failures, crashes, run.seq)
  if (outcome.state !== 'pending') {
    const asked = outcome.state === 'cancelled' ? (run.reason ?? undefined) : undefined
    endRun(session, run, { state: outcome.state, at: endedAt, reason: outcome.reason ?? asked })
  } else if (run.cancel_requested === 1) {
    // Whoever asked for the end was promised it; another try would break that.
    endRun(session, run, { state: 'cancelled', at: endedAt, reason: run.reason ?? undefined })
  } else {
    leaveQueue(session, run.job, 1)
    waitAgain(session, run, { runAt: outcome.runAt ?? now, now, reason: outcome.reason })
  }
  return 'stored'
}

/** Makes a run that held its gates or was final wait again; what waits at its gates goes first. */
export function waitAgain(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'job' | 'state' | 'gates'>,
  wait: { runAt: Instant; now: Instant; reason: string | undefined },
): void {
  const isDue = wait.runAt <= wait.now
  const state = isDue && run.gates === null ? ready : delayed
  session.db.change(WAIT_AGAIN, state, wait.runAt, wait.reason ?? null, run.seq)
  if (run.gates === null) return
  if (run.state === running) releaseGates(session, run.gates)
  if (isDue) admit(session, { seq: run.seq, job: run.job, gates: run.gates })
}
