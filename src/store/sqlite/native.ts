/*
 * What SQLite does in words of its own. Rows of runs come and go as JSON texts: an object for each row takes several
 * times as long. Ends are known by the key of the claim that this process remembers, and go in as groups.
 */
import type { HolderNotice } from '../../kernel/run/fact.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import type { Finished } from '../port.js'
import { toJson } from '../sql/rows/run-rows.js'
import { done, ready, running } from '../sql/rows/states.js'
import { leaveQueue } from '../sql/runs/end-run.js'
import { isPlainEnd } from '../sql/runs/finish.js'
import type { Candidate, NativeVerbs, PlainEnd } from '../sql/runs/native.js'
import type { Session } from '../sql/session.js'
import { all, change, value, type Verb } from '../sql/verb.js'
import type { PlainClaim, PlainClaims } from './plain-claims.js'

/** Longer payloads are read only for the runs that are taken. */
const maxInlinePayload = 4096

// Relies on: runs_ready, in its own order. The write lock keeps two workers from taking one run.
const CANDIDATES = `select json_group_array(json_array(seq, id, priority, run_at, attempt, failures, crashes, due_at,
    trigger, partition, gates, follow, payload is not null,
    case when octet_length(payload) <= ${maxInlinePayload} then payload end))
  from (
    select * from runs where state = ${ready} and job = $1 order by priority desc, run_at, seq limit $2 offset $3 + 0
  )`

// Relies on: primary key.
const TAKE = `update runs set state = ${running}, attempt = attempt + 1, worker = $1, claimed_at = $2, started_at = null
  where seq = any($3::int8[])`

// Relies on: primary key.
const PAYLOAD = `select payload from runs where seq = $1`

// Relies on: primary key. The fence is run, attempt and state: what an older claim reports finds no row. A key is never
// given twice, so the key of a claim is as good as its run's id.
const END_PLAIN = `update runs set state = ${done}, started_at = $1, finished_at = $2, result = $3, reason = null
  where state = ${running} and attempt = 1 and seq = any($4::int8[])`

// Relies on: primary key. Asked only where some were stale; no other process can have ended a first attempt as done.
const ENDED = `select seq from runs
  where state = ${done} and attempt = 1 and finished_at = $1 and seq = any($2::int8[])`

// Relies on: the unique index of workers.id, then notices_worker.
const NOTICES = `select run, attempt, kind from notices
  where worker = (select key from workers where id = $1) order by id`

const FORGET_NOTICES = `delete from notices where worker = (select key from workers where id = $1)`

/** The verbs of SQLite for one connection. */
export function nativeVerbs(session: Session, claims: PlainClaims): NativeVerbs {
  return {
    // Each job is a statement of its own.
    manyJobs: 8,
    endPlain: (items) => endPlain(session, claims, items),
    candidates,
    take: (runs, by) => take(claims, runs as readonly ReadCandidate[], by),
    takeNotices,
    lastNoticeOf: () => 0,
    *lockUniqueKey() {
      // The write lock keeps every other transaction out.
    },
  }
}

/** Plain ends that have everything in common: one statement for all of them. */
interface PlainGroup {
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant
  readonly result: string | null
  readonly members: { readonly run: RunId; readonly claim: PlainClaim }[]
}

function* endPlain(
  session: Session,
  claims: PlainClaims,
  items: readonly Finished[],
): Verb<Map<RunId, PlainEnd>> {
  const groups = new Map<string, PlainGroup>()
  for (const item of items) {
    const claim = claims.take(item.run)
    if (claim !== undefined && isPlainEnd(item)) addToGroup(groups, item, claim)
  }
  const ended = new Map<RunId, PlainEnd>()
  for (const group of groups.values()) yield* endGroup(session, group, ended)
  return ended
}

function addToGroup(groups: Map<string, PlainGroup>, item: Finished, claim: PlainClaim): void {
  const { run, startedAt, endedAt } = item
  const result = toJson(item.outcome.result)
  const key = `${startedAt} ${endedAt} ${result}`
  const known = groups.get(key)
  if (known === undefined) groups.set(key, { startedAt, endedAt, result, members: [{ run, claim }] })
  else known.members.push({ run, claim })
}

function* endGroup(session: Session, group: PlainGroup, ended: Map<RunId, PlainEnd>): Verb<void> {
  const { startedAt = null, endedAt, result, members } = group
  const seqs = members.map(({ claim }) => claim.seq)
  const changes = yield* change(END_PLAIN, startedAt, endedAt, result, seqs)
  const rows = changes === members.length ? undefined : yield* all<{ seq: number }>(ENDED, endedAt, seqs)
  const current = rows === undefined ? undefined : new Set(rows.map(({ seq }) => seq))
  const byJob = new Map<string, number>()
  for (const { run, claim } of members) {
    if (current?.has(claim.seq) === false) continue
    ended.set(run, claim)
    byJob.set(claim.job, (byJob.get(claim.job) ?? 0) + 1)
  }
  for (const [job, count] of byJob) yield* leaveQueue(session, job, count)
}

interface ReadCandidate extends Candidate {
  readonly hasPayload: 0 | 1
  readonly payload: string | null
}

type CandidateColumns = [
  seq: number,
  id: string,
  priority: number,
  runAt: number,
  attempt: number,
  failures: number,
  crashes: number,
  dueAt: number,
  trigger: string | null,
  partition: string | null,
  gates: string | null,
  follow: number | null,
  hasPayload: 0 | 1,
  payload: string | null,
]

function* candidates(
  jobs: readonly string[],
  { limit, offset }: { limit: number; offset: number },
): Verb<ReadCandidate[]> {
  const found: ReadCandidate[] = []
  for (const job of jobs) {
    const text = (yield* value<string>(CANDIDATES, job, limit, offset)) as string
    for (const columns of JSON.parse(text) as CandidateColumns[]) found.push(candidateOf(job, columns))
  }
  return found
}

function candidateOf(job: string, columns: CandidateColumns): ReadCandidate {
  const [seq, id, priority, run_at, attempt, failures, crashes, due_at, trigger, partition, gates, follow] =
    columns
  const fence = { attempt, failures, crashes }
  const [hasPayload, payload] = [columns[12], columns[13]]
  return {
    seq,
    id,
    job,
    priority,
    run_at,
    ...fence,
    due_at,
    trigger,
    partition,
    gates,
    follow,
    hasPayload,
    payload,
  }
}

function* take(
  claims: PlainClaims,
  runs: readonly ReadCandidate[],
  { worker, now }: { worker: number; now: Instant },
): Verb<(string | null)[]> {
  const seqs = runs.map(({ seq }) => seq)
  yield* change(TAKE, worker, now, seqs)
  const payloads: (string | null)[] = []
  for (const { id, seq, job, gates, follow, hasPayload, payload } of runs) {
    if (follow === null) claims.remember(id, { seq, job, gates })
    const isElsewhere = hasPayload === 1 && payload === null
    payloads.push(isElsewhere ? ((yield* value<string>(PAYLOAD, seq)) ?? null) : payload)
  }
  return payloads
}

function* takeNotices(worker: string): Verb<HolderNotice[]> {
  const notices = yield* all<HolderNotice>(NOTICES, worker)
  if (notices.length > 0) yield* change(FORGET_NOTICES, worker)
  return notices
}
