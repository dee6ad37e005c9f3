import type { RunId } from '../../../kernel/identity/identity.js'
import type { NewRun } from '../../../kernel/run/run.js'
import { deadlineChanges } from '../../../kernel/sla/deadline.js'
import type { Instant } from '../../../time/instant.js'
import type { Enqueued } from '../../port.js'
import { endEffectCode, originCode, toJson } from '../rows/run-rows.js'
import { blocked, delayed, done, ready } from '../rows/states.js'
import type { Session } from '../session.js'
import { writeStateEntries } from '../state.js'
import { each, insertNewInto, type SqlScalar } from '../statement.js'
import type { Verb } from '../verb.js'
import { applyBurst } from '../policies/burst.js'
import { slotsText, takeSingleSlots, takeSlots, untakeSlots } from './concurrency-slots.js'

/** The text of runs that are inserted together ends at about this length. */
const enoughText = 1_000_000

const bareColumns = {
  id: 'text',
  job: 'text',
  state: 'int2',
  priority: 'int8',
  run_at: 'int8',
  due_at: 'int8',
  created_at: 'int8',
  origin: 'int2',
  payload: 'text',
} as const

// Relies on: the unique index of runs.id, which closes the race of two processes for one id.
const INSERT_BARE = insertNewInto('rota.runs', bareColumns)

// Relies on: the unique index of runs.id, for the same race.
const INSERT = insertNewInto('rota.runs', {
  ...bareColumns,
  trigger: 'text',
  version: 'int4',
  partition: 'text',
  gates: 'text',
  waits_for: 'text',
  follow: 'int2',
  unique_key: 'text',
  unique_until: 'int8',
  labels: 'text',
})

const alikeColumns = Object.keys(bareColumns).join(', ')

// Relies on: the unique index of runs.id, for the same race. Runs that differ only in id and payload are inserted from
// one text: in SQLite that takes half the time of binding every value of every row.
const INSERT_ALIKE = each({
  sqlite: `insert into runs (${alikeColumns})
    select value ->> 0, $2, $3, $4, $5, $6, $7, $8, value ->> 1 from json_each($1) where true
    on conflict (id) do nothing`,
  postgres: `insert into rota.runs (${alikeColumns})
    select value ->> 0, $2::text, $3::int2, $4::int8, $5::int8, $6::int8, $7::int8, $8::int2, value ->> 1
    from json_array_elements($1::json)
    on conflict (id) do nothing`,
})

// Relies on: the unique index of runs.id. Keys only increase, so the last inserted runs have the highest.
const NEWEST = `select id from rota.runs where id = any($1::text[]) order by seq desc limit $2`

// Relies on: the unique index of runs.id.
const EXISTS = `select 1 from rota.runs where id = $1`

// Relies on: runs_unique_open and runs_unique_until. The lock of the key closes the race of two runs for it.
const UNIQUE_HOLDER = `select id from (
    select seq, id from rota.runs where job = $1 and unique_key = $2 and unique_key is not null and state < ${done}
    union
    select seq, id from rota.runs where job = $1 and unique_key = $2 and unique_until > $3
  ) found order by seq limit 1`

/** Runs that one caller records. */
export interface EnqueueRequest {
  readonly runs: readonly NewRun[]
  readonly now: Instant
}

/** Records the runs of several callers; those of the same moment are inserted together. */
export function* enqueueAll(
  session: Session,
  requests: readonly EnqueueRequest[],
): Verb<readonly Enqueued[][]> {
  const answers: Enqueued[][] = []
  while (answers.length < requests.length) {
    const start = answers.length
    const { now } = requests[start] as EnqueueRequest
    let end = start + 1
    while (requests[end]?.now === now) end++
    const together = requests.slice(start, end)
    const enqueued = yield* enqueue(session, { runs: together.flatMap(({ runs }) => runs), now })
    let first = 0
    for (const { runs } of together) answers.push(enqueued.slice(first, (first += runs.length)))
  }
  return answers
}

/** Records runs, or returns the runs that have their unique keys. */
export function* enqueue(session: Session, { runs, now }: EnqueueRequest): Verb<Enqueued[]> {
  session.noteTime(now)
  session.tell('runs')
  const answers: Enqueued[] = []
  while (answers.length < runs.length) {
    const start = answers.length
    const first = runs[start] as NewRun
    if (!isIndependent(first)) {
      answers.push(yield* enqueueOne(session, first, now))
      continue
    }
    const alike = alikeFrom(runs, start)
    if (alike > 1) {
      answers.push(...(yield* insertAlike(session, runs.slice(start, start + alike), now)))
      continue
    }
    let end = start + 1
    while (end < runs.length && isIndependent(runs[end] as NewRun) && alikeFrom(runs, end) === 1) end++
    answers.push(...(yield* insertIndependent(session, runs.slice(start, end), now)))
  }
  return answers
}

/** Records runs of any kind in their order; one whose id exists stays unchanged. */
export function* insertRuns(session: Session, runs: readonly NewRun[], now: Instant): Verb<void> {
  if (runs.length === 0) return
  session.recorded(runs, now)
  if (runs.every(isIndependent)) yield* insertIndependent(session, runs, now)
  else if (runs.length > 1 && areUnshared(runs)) yield* insertUnshared(session, runs, now)
  else for (const run of runs) yield* insertRun(session, run, now)
}

/** Whether recording a run writes only its own row and its deadlines. */
function isIndependent({ slots, uniqueKey }: NewRun): boolean {
  return slots.length === 0 && uniqueKey === undefined
}

/** Whether a run has only the fields that every run has. */
export function isBare(run: NewRun): boolean {
  return (
    run.trigger === undefined &&
    run.version === undefined &&
    run.partition === undefined &&
    run.labels === undefined &&
    run.endEffect === undefined &&
    run.uniqueUntil === undefined &&
    run.deadlines === undefined
  )
}

function* enqueueOne(session: Session, run: NewRun, now: Instant): Verb<Enqueued> {
  const { job, uniqueKey } = run
  if (uniqueKey !== undefined && (yield* session.sql.value(EXISTS, run.id)) === undefined) {
    yield* session.native.lockUniqueKey(job, uniqueKey)
    const holder =
      run.burst === undefined
        ? yield* uniqueHolder(session, { job, uniqueKey, now })
        : yield* applyBurst(session, run, now)
    if (holder !== undefined) return { id: holder, created: false }
  }
  return { id: run.id, created: yield* insertRun(session, run, now) }
}

/** The run that has a unique key; the first one if there are several. */
export function uniqueHolder(
  session: Session,
  { job, uniqueKey, now }: { job: string; uniqueKey: string; now: Instant },
): Verb<RunId | undefined> {
  return session.sql.value<RunId>(UNIQUE_HOLDER, job, uniqueKey, now)
}

function* insertRun(session: Session, run: NewRun, now: Instant): Verb<boolean> {
  const slots = slotsText(run.slots)
  const isDue = run.runAt <= now
  const waitsFor =
    slots !== null && isDue ? yield* takeSlots(session, { job: run.job, gates: slots }) : undefined
  const state = !isDue ? delayed : waitsFor === undefined ? ready : blocked
  const row = fullRow(session, run, { now, state, waitsFor })
  const isNew = (yield* session.sql.insert(INSERT, [row])) === 1
  // A run that exists must not take its slots a second time.
  if (!isNew && slots !== null && isDue && waitsFor === undefined) yield* untakeSlots(session, slots)
  if (isNew) yield* writeDeadlines(session, [run], now)
  return isNew
}

/** Writes the deadlines of new runs. Their keys are new, so no other writer conflicts. */
function* writeDeadlines(session: Session, runs: readonly NewRun[], now: Instant): Verb<void> {
  const entries = runs.flatMap(deadlineChanges).map((change) => ({ change, at: now, changes: 1 }))
  if (entries.length === 0) return
  session.tell('anything')
  yield* writeStateEntries(session, entries)
}

/** Whether these runs are independent: each has at most one slot, and no two share one. */
function areUnshared(runs: readonly NewRun[]): boolean {
  const keys = new Set<string>()
  return runs.every(({ slots, uniqueKey }) => {
    const [slot, second] = slots
    if (uniqueKey !== undefined || second !== undefined) return false
    return slot === undefined || keys.size < keys.add(slot.key).size
  })
}

/** The same as `insertRun` for independent runs, with a few statements for all of them. */
function* insertUnshared(session: Session, runs: readonly NewRun[], now: Instant): Verb<void> {
  const due = runs.filter(({ runAt, slots }) => runAt <= now && slots.length > 0)
  const full = yield* takeSingleSlots(session, due)
  const rows = runs.map((run) => {
    const waitsFor = run.runAt <= now ? run.slots.find(({ key }) => full.has(key))?.key : undefined
    const state = run.runAt > now ? delayed : waitsFor === undefined ? ready : blocked
    return fullRow(session, run, { now, state, waitsFor })
  })
  const created = yield* session.sql.added(INSERT, rows)
  for (const [i, { slots, runAt }] of runs.entries()) {
    const [slot] = slots
    if (created[i] !== true && slot !== undefined && runAt <= now && !full.has(slot.key))
      yield* untakeSlots(session, slotsText(slots) as string)
  }
  yield* writeDeadlines(
    session,
    runs.filter((_, i) => created[i]),
    now,
  )
}

function* insertIndependent(session: Session, runs: readonly NewRun[], now: Instant): Verb<Enqueued[]> {
  const stateOf = ({ runAt }: NewRun): number => (runAt <= now ? ready : delayed)
  const created = runs.every(isBare)
    ? yield* session.sql.added(
        INSERT_BARE,
        runs.map((run) => bareRow(run, now, stateOf(run))),
      )
    : yield* session.sql.added(
        INSERT,
        runs.map((run) => fullRow(session, run, { now, state: stateOf(run), waitsFor: undefined })),
      )
  yield* writeDeadlines(
    session,
    runs.filter((_, i) => created[i]),
    now,
  )
  return runs.map(({ id }, i) => ({ id, created: created[i] as boolean }))
}

function bareRow(run: NewRun, now: Instant, state: number): SqlScalar[] {
  const { id, job, priority, runAt, dueAt } = run
  return [id, job, state, priority, runAt, dueAt, now, originCode(run.origin), toJson(run.payload)]
}

function fullRow(
  session: Session,
  run: NewRun,
  { now, state, waitsFor = null }: { now: Instant; state: number; waitsFor: string | null | undefined },
): SqlScalar[] {
  return [
    ...bareRow(run, now, state),
    run.trigger ?? null,
    run.version ?? null,
    run.partition ?? null,
    slotsText(run.slots),
    waitsFor,
    endEffectCode(session.endEffects, run.endEffect),
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
    toJson(run.labels),
  ]
}

/** How many runs from an index on differ only in id and payload, up to the length of one text. */
function alikeFrom(runs: readonly NewRun[], start: number): number {
  const first = runs[start] as NewRun
  let end = start + 1
  if (isBare(first)) while (end < runs.length && areAlike(first, runs[end] as NewRun)) end++
  return end - start
}

function areAlike(one: NewRun, other: NewRun): boolean {
  return (
    other.job === one.job &&
    other.runAt === one.runAt &&
    other.dueAt === one.dueAt &&
    other.priority === one.priority &&
    other.origin === one.origin &&
    isIndependent(other) &&
    isBare(other)
  )
}

/** Inserts runs that differ only in id and payload; returns which of them are new. */
function* insertAlike(session: Session, runs: readonly NewRun[], now: Instant): Verb<Enqueued[]> {
  const { job, priority, runAt, dueAt, origin } = runs[0] as NewRun
  const rows: string[] = []
  for (let i = 0, length = 0; i < runs.length && length < enoughText; i++) {
    const { id, payload } = runs[i] as NewRun
    const row = JSON.stringify([id, toJson(payload)])
    rows.push(row)
    length += row.length
  }
  const state = runAt <= now ? ready : delayed
  const common = [job, state, priority, runAt, dueAt, now, originCode(origin)] as const
  const changes = yield* session.sql.change(INSERT_ALIKE, `[${rows.join()}]`, ...common)
  const ids = runs.slice(0, rows.length).map(({ id }) => id)
  if (changes === ids.length) return ids.map((id) => ({ id, created: true }))
  const newest = yield* session.sql.all<{ id: RunId }>(NEWEST, ids, changes)
  const created = new Set(newest.map(({ id }) => id))
  return ids.map((id) => ({ id, created: created.delete(id) }))
}
