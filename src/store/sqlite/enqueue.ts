import type { NewRun } from '../../model/run.js'
import type { Instant } from '../../time/instant.js'
import type { Enqueued } from '../store.js'
import type { SqlValue } from './database.js'
import { gatesText, takeGates } from './gates.js'
import { originCode, toJson } from './rows.js'
import type { Session } from './session.js'
import { blocked, delayed, done, ready } from './states.js'

/** How many plain runs one statement inserts: it halves the time a run takes. */
const rowsPerInsert = 20

const plainColumns = 'id, job, state, priority, run_at, due_at, created_at, origin, payload'

const plainRow = '(?, ?, ?, ?, ?, ?, ?, ?, ?)'

// Relies on: the unique index of runs.id, which closes the race of two processes for one id.
const INSERT_PLAIN = `insert into runs (${plainColumns}) values ${plainRow} on conflict (id) do nothing`

const INSERT_PLAIN_ROWS = `insert into runs (${plainColumns})
  values ${Array<string>(rowsPerInsert).fill(plainRow).join(', ')} on conflict (id) do nothing`

const INSERT_ANY = `insert into runs (${plainColumns}, trigger, version, partition, gates, waits_for, chained,
  unique_key, unique_until) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`

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

/** Records runs, or finds those that stand for them. */
export function enqueue(session: Session, request: { runs: readonly NewRun[]; now: Instant }): Enqueued[] {
  const { runs, now } = request
  session.noteTime(now)
  const answers: Enqueued[] = []
  for (let i = 0; i < runs.length; ) {
    const plain = plainFrom(runs, i)
    if (plain > 0) {
      const created = insertPlain(session, runs.slice(i, i + plain), now)
      for (let k = 0; k < plain; k++) {
        answers.push({ id: (runs[i + k] as NewRun).id, created: created[k] as boolean })
      }
      i += plain
    } else {
      answers.push(enqueueOne(session, runs[i] as NewRun, now))
      i++
    }
  }
  return answers
}

/** Records a run of any kind; one whose id exists stays as it is. */
export function insertRun(session: Session, run: NewRun, now: Instant): boolean {
  const gates = gatesText(run.gates)
  const isDue = run.runAt <= now
  // A run that exists must not take its gates a second time.
  if (gates !== null && isDue && session.db.value(EXISTS, run.id) !== undefined) return false
  const waitsFor = gates !== null && isDue ? takeGates(session, { job: run.job, gates }) : undefined
  const values: SqlValue[] = []
  pushPlainValues(values, run, { now, state: stateAtStart(isDue, waitsFor) })
  const changes = session.db.change(
    INSERT_ANY,
    ...values,
    run.trigger ?? null,
    run.version ?? null,
    run.partition ?? null,
    gates,
    waitsFor ?? null,
    run.chained === true ? 1 : null,
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
  )
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

/** How many plain runs follow each other from a place on: as many as one statement takes, one, or none. */
function plainFrom(runs: readonly NewRun[], start: number): number {
  for (let i = start; i < start + rowsPerInsert; i++) {
    const run = runs[i]
    if (run === undefined || !isPlain(run)) return i === start ? 0 : 1
  }
  return rowsPerInsert
}

function isPlain(run: NewRun): boolean {
  return (
    run.gates.length === 0 &&
    run.uniqueKey === undefined &&
    run.trigger === undefined &&
    run.version === undefined &&
    run.partition === undefined &&
    run.chained !== true
  )
}

/** Inserts one plain run, or as many as a statement takes; answers which of them are new. */
function insertPlain(session: Session, runs: readonly NewRun[], now: Instant): boolean[] {
  const values: SqlValue[] = []
  for (const run of runs) pushPlainValues(values, run, { now, state: run.runAt <= now ? ready : delayed })
  const sql = runs.length === 1 ? INSERT_PLAIN : INSERT_PLAIN_ROWS
  const changes = session.db.change(sql, ...values)
  if (changes === runs.length) return runs.map(() => true)
  const ids = JSON.stringify(runs.map((run) => run.id))
  const fresh = new Set(session.db.json<string[]>(NEWEST, ids, changes))
  return runs.map((run) => fresh.delete(run.id))
}

function pushPlainValues(
  values: SqlValue[],
  run: NewRun,
  { now, state }: { now: Instant; state: number },
): void {
  values.push(run.id, run.job, state, run.priority, run.runAt, run.dueAt, now)
  values.push(originCode(run.origin), toJson(run.payload))
}
