import type { NewRun } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { Enqueued } from '../port.js'
import { endEffectCode, originCode, toJson } from '../sql/rows/run-rows.js'
import { blocked, delayed, done, ready } from '../sql/rows/states.js'
import type { SqlValue } from '../sql/statement.js'
import { gatesText, takeGates, untakeGates } from './gates.js'
import type { Session } from './session.js'

/** From this length on, the text of runs that are inserted together is not made longer. */
const enoughText = 1_000_000

const plainColumns = 'id, job, state, priority, run_at, due_at, created_at, origin, payload'

// Relies on: the unique index of runs.id, which closes the race of two processes for one id. Runs that have all but id
// and payload in common go in as one text: that takes half the time of binding every value of every row.
const INSERT_ALIKE = `insert into runs (${plainColumns})
  select value ->> 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, value ->> 1 from json_each(?1) where true
  on conflict (id) do nothing`

// Relies on: the unique index of runs.id, for the same race.
const INSERT_PLAIN = `insert into runs (${plainColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`

const INSERT_ANY = `insert into runs (${plainColumns}, trigger, version, partition, gates, waits_for, follow,
  unique_key, unique_until, labels) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`

// Relies on: the unique index of runs.id. Keys only grow, so those that were inserted last have the highest.
const NEWEST = `select json_group_array(id) from (
    select id from runs where id in (select value from json_each(?)) order by seq desc limit ?
  )`

// Relies on: the unique index of runs.id.
const EXISTS = `select 1 from runs where id = ?`

// Relies on: runs_unique_open and runs_unique_until; the write lock closes the race of two runs for one key.
const UNIQUE_HOLDER = `select id from (
    select seq, id from runs where job = ?1 and unique_key = ?2 and state < ${done}
    union
    select seq, id from runs where job = ?1 and unique_key = ?2 and unique_until > ?3
  ) order by seq limit 1`

/** What is to be recorded. */
interface Request {
  readonly runs: readonly NewRun[]
  readonly now: Instant
}

/** Records what several callers asked for; what they asked for in the same moment goes in together. */
export function enqueueAll(session: Session, requests: readonly Request[]): readonly Enqueued[][] {
  const answers: Enqueued[][] = []
  while (answers.length < requests.length) {
    const start = answers.length
    const { now } = requests[start] as Request
    let end = start + 1
    while (requests[end]?.now === now) end++
    const together = requests.slice(start, end)
    const enqueued = enqueue(session, { runs: together.flatMap(({ runs }) => runs), now })
    let first = 0
    for (const { runs } of together) answers.push(enqueued.slice(first, (first += runs.length)))
  }
  return answers
}

/** Records runs, or finds those that stand for them. */
export function enqueue(session: Session, request: Request): Enqueued[] {
  const { runs, now } = request
  session.noteTime(now)
  const answers: Enqueued[] = []
  while (answers.length < runs.length) {
    const start = answers.length
    const alike = alikeFrom(runs, start)
    if (alike > 1) insertAlike(session, { runs, start, end: start + alike, now, answers })
    else answers.push(enqueueOne(session, runs[start] as NewRun, now))
  }
  return answers
}

/** Records a run of any kind; one whose id exists stays as it is. */
export function insertRun(session: Session, run: NewRun, now: Instant): boolean {
  const isDue = run.runAt <= now
  if (isPlain(run))
    return session.db.change(INSERT_PLAIN, ...plainValues(run, now, stateAtStart(isDue, undefined))) === 1
  const gates = gatesText(run.gates)
  const waitsFor = gates !== null && isDue ? takeGates(session, { job: run.job, gates }) : undefined
  const changes = session.db.change(
    INSERT_ANY,
    ...plainValues(run, now, stateAtStart(isDue, waitsFor)),
    run.trigger ?? null,
    run.version ?? null,
    run.partition ?? null,
    gates,
    waitsFor ?? null,
    endEffectCode(session.endEffects, run.endEffect),
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
    toJson(run.labels),
  )
  // A run that exists must not take its gates a second time.
  if (changes === 0 && gates !== null && isDue && waitsFor === undefined) untakeGates(session, gates)
  return changes === 1
}

function stateAtStart(isDue: boolean, waitsFor: string | undefined): number {
  if (!isDue) return delayed
  return waitsFor === undefined ? ready : blocked
}

function enqueueOne(session: Session, run: NewRun, now: Instant): Enqueued {
  if (run.uniqueKey !== undefined && session.db.value(EXISTS, run.id) === undefined) {
    const holder = session.db.value(UNIQUE_HOLDER, run.job, run.uniqueKey, now)
    if (holder !== undefined) return { id: holder as string, created: false }
  }
  return { id: run.id, created: insertRun(session, run, now) }
}

/** How many runs from a place on have all but id and payload in common: at least the one that stands there. */
function alikeFrom(runs: readonly NewRun[], start: number): number {
  const first = runs[start] as NewRun
  let end = start + 1
  if (isPlain(first)) while (end < runs.length && areAlike(first, runs[end] as NewRun)) end++
  return end - start
}

function plainValues(run: NewRun, now: Instant, state: number): SqlValue[] {
  const { id, job, priority, runAt, dueAt } = run
  return [id, job, state, priority, runAt, dueAt, now, originCode(run.origin), toJson(run.payload)]
}

function isPlain(run: NewRun): boolean {
  return (
    run.gates.length === 0 &&
    run.uniqueKey === undefined &&
    run.trigger === undefined &&
    run.version === undefined &&
    run.partition === undefined &&
    run.labels === undefined &&
    run.endEffect === undefined
  )
}

function areAlike(one: NewRun, other: NewRun): boolean {
  return (
    other.job === one.job &&
    other.runAt === one.runAt &&
    other.dueAt === one.dueAt &&
    other.priority === one.priority &&
    other.origin === one.origin &&
    isPlain(other)
  )
}

/** Inserts runs that are alike, as many as one text holds, and answers which of them are new. */
function insertAlike(
  session: Session,
  part: { runs: readonly NewRun[]; start: number; end: number; now: Instant; answers: Enqueued[] },
): void {
  const { runs, start, end, now, answers } = part
  const { job, priority, runAt, dueAt, origin } = runs[start] as NewRun
  const rows: string[] = []
  for (let i = start, length = 0; i < end && length < enoughText; i++) {
    const { id, payload } = runs[i] as NewRun
    const row = JSON.stringify([id, toJson(payload)])
    rows.push(row)
    length += row.length
  }
  const state = runAt <= now ? ready : delayed
  const text = `[${rows.join()}]`
  const changes = session.db.change(
    INSERT_ALIKE,
    text,
    job,
    state,
    priority,
    runAt,
    dueAt,
    now,
    originCode(origin),
  )
  const ids = runs.slice(start, start + rows.length).map((run) => run.id)
  const fresh = changes === ids.length ? undefined : newestOf(session, ids, changes)
  for (const id of ids) answers.push({ id, created: fresh?.delete(id) ?? true })
}

/** Those of the ids that were inserted last. */
function newestOf(session: Session, ids: readonly string[], count: number): Set<string> {
  return new Set(session.db.json<string[]>(NEWEST, JSON.stringify(ids), count))
}
