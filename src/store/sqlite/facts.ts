import type { Fact, FactPage, Phase, RunFact, TriggerFact, WorkerFact } from '../../kernel/run/fact.js'
import type { Queue } from '../../kernel/job/job.js'
import type { RecordedRange } from '../../kernel/ledger/ledger.js'
import { phases } from '../sql/rows/states.js'
import { workerOf, type WorkerRow } from '../sql/rows/worker-rows.js'
import { countersOf } from '../sql/meta.js'
import { stateEntriesAfter } from '../sql/state.js'
import { jobs, versions } from './read-definitions.js'
import { attemptsOf, FROM_RUNS } from './read-runs.js'
import {
  endEffectOf,
  holdOf,
  orUndefined,
  rangeOf,
  runOf,
  type HoldRow,
  type RangeRow,
  type RunRow,
  gatesOf,
} from '../sql/rows/run-rows.js'
import type { Session } from './session.js'
import { storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from './trigger-rows.js'

// Each relies on: primary key, read from a place on.
const QUEUES = `select name, concurrency from queues order by name`
const WORKERS = `select * from workers where key > ? order by key limit ?`
const NOTICES = `select run, attempt, kind from notices where worker = ? order by id`
const HOLDS = `select * from holds where id > ? order by id limit ?`
const RUNS = `select *, (select unique_until from runs where seq = found.seq) as unique_until from (
    ${FROM_RUNS} where runs.seq > ? order by runs.seq limit ?
  ) found`
const RANGES = `select * from ledger where seq > ? order by seq limit ?`
const SEEN = `select trigger, digest, until_at from seen
  where (trigger, digest) > (?, ?) order by trigger, digest limit ?`
const TRIGGERS = `select name, fingerprint, kept_at, json_array(${TRIGGER_COLUMNS}) as row
  from triggers join versions on versions.trigger = triggers.name and versions.version = triggers.version
  where triggers.name > ? order by triggers.name limit ?`
const LOGS = `select runs.id as run, logs.seq, logs.attempt, logs.at, logs.level, logs.text
  from logs join runs on runs.seq = logs.run where logs.run > ? and logs.run <= ? order by logs.run, logs.seq`

interface QueueRow {
  readonly name: string
  readonly concurrency: number | null
}

function queueOf({ name, concurrency }: QueueRow): Queue {
  return { name, concurrency: orUndefined(concurrency) }
}

/** Facts from a place on, and the last place; absent where there was nothing. */
type Section = (session: Session, after: string, limit: number) => { facts: Fact[]; last: string | undefined }

const sections: readonly Section[] = [
  (session) => once(session.db.all<QueueRow>(QUEUES).map((row) => ({ kind: 'queue', queue: queueOf(row) }))),
  (session) => once(jobs(session).map(({ job, source }) => ({ kind: 'job', job, source }))),
  workers,
  holds,
  triggers,
  runs,
  ranges,
  noted,
  seen,
  (session) => once([{ kind: 'counters', ...session.db.perform(countersOf(session)) }]),
]

/** A page of the facts. */
export function facts(session: Session, request: { after?: string | undefined; limit: number }): FactPage {
  const [index, after] =
    request.after === undefined ? [0, ''] : (JSON.parse(request.after) as [number, string])
  const found = sections[index]?.(session, after, request.limit) ?? { facts: [], last: undefined }
  if (found.last !== undefined) return { facts: found.facts, next: JSON.stringify([index, found.last]) }
  const next = index + 1 < sections.length ? JSON.stringify([index + 1, '']) : undefined
  return { facts: found.facts, next }
}

function once(facts: Fact[]): { facts: Fact[]; last: undefined } {
  return { facts, last: undefined }
}

function workers(session: Session, after: string, limit: number): ReturnType<Section> {
  type Row = WorkerRow & { key: number; phase: number }
  const rows = session.db.all<Row>(WORKERS, Number(after), limit)
  const facts = rows.map((row): Fact => {
    const notices = session.db.all<WorkerFact['notices'][number]>(NOTICES, row.key)
    return { kind: 'worker', worker: { ...workerOf(row), isGone: row.phase > 0, notices } }
  })
  return { facts, last: lastOf(rows, ({ key }) => String(key)) }
}

function holds(session: Session, after: string, limit: number): ReturnType<Section> {
  const rows = session.db.all<HoldRow & { is_released: number }>(HOLDS, Number(after), limit)
  const facts = rows.map(
    (row): Fact => ({ kind: 'hold', hold: holdOf(row), isReleased: row.is_released === 1 }),
  )
  return { facts, last: lastOf(rows, ({ id }) => String(id)) }
}

function triggers(session: Session, after: string, limit: number): ReturnType<Section> {
  type Row = { name: string; fingerprint: string; kept_at: number | null; row: string }
  const rows = session.db.all<Row>(TRIGGERS, after, limit)
  const facts = rows.map(({ name, fingerprint, kept_at, row }): Fact => {
    const stored = storedTriggerOf(JSON.parse(row) as TriggerRow)
    const trigger: TriggerFact = {
      ...stored,
      fingerprint,
      keptAt: orUndefined(kept_at),
      versions: versions(session, name),
    }
    return { kind: 'trigger', trigger }
  })
  return { facts, last: lastOf(rows, ({ name }) => name) }
}

function runs(session: Session, after: string, limit: number): ReturnType<Section> {
  const rows = session.db.all<RunRow & { unique_until: number | null }>(RUNS, Number(after), limit)
  const last = rows.at(-1)?.seq
  const found = rows.map((row): Fact => ({ kind: 'run', run: runFact(session, row) }))
  const logged = last === undefined ? [] : logsBetween(session, Number(after), last)
  return { facts: [...found, ...logged], last: last === undefined ? undefined : String(last) }
}

function runFact(session: Session, row: RunRow & { unique_until: number | null }): RunFact {
  const { state: _state, ...run } = runOf(row)
  return {
    ...run,
    phase: phases[row.state] as Phase,
    gates: gatesOf(row.gates),
    endEffect: endEffectOf(session.endEffects, row.follow)?.name,
    uniqueUntil: orUndefined(row.unique_until),
    attempts: attemptsOf(session, row),
  }
}

function logsBetween(session: Session, after: number, last: number): Fact[] {
  type Line = Extract<Fact, { kind: 'log' }>['lines'][number]
  const lines = new Map<string, Line[]>()
  for (const { run, attempt, at, level, text } of session.db.all<Line>(LOGS, after, last)) {
    const known = lines.get(run) ?? []
    known.push({ run, attempt, at, level, text })
    lines.set(run, known)
  }
  return [...lines.values()].map((of) => ({ kind: 'log', lines: of }))
}

function ranges(session: Session, after: string, limit: number): ReturnType<Section> {
  const rows = session.db.all<RangeRow>(RANGES, Number(after), limit)
  const facts = rows.map((row): Fact => ({ kind: 'range', range: rangeOf(row) satisfies RecordedRange }))
  return { facts, last: lastOf(rows, ({ seq }) => String(seq)) }
}

function noted(session: Session, after: string, limit: number): ReturnType<Section> {
  const key = after === '' ? (['', '', ''] as const) : (JSON.parse(after) as [string, string, string])
  const rows = session.db.perform(stateEntriesAfter(key, limit))
  const facts = rows.map((note): Fact => ({ kind: 'note', note }))
  return { facts, last: lastOf(rows, ({ kind, name, item }) => JSON.stringify([kind, name, item])) }
}

function seen(session: Session, after: string, limit: number): ReturnType<Section> {
  const [trigger = '', digest = ''] = after === '' ? [] : (JSON.parse(after) as string[])
  type Row = { trigger: string; digest: string; until_at: number | null }
  const rows = session.db.all<Row>(SEEN, trigger, digest, limit)
  const facts = rows.map((row): Fact => {
    return {
      kind: 'seen',
      trigger: row.trigger,
      key: { digest: row.digest, untilAt: orUndefined(row.until_at) },
    }
  })
  return { facts, last: lastOf(rows, (row) => JSON.stringify([row.trigger, row.digest])) }
}

function lastOf<Row>(rows: readonly Row[], place: (row: Row) => string): string | undefined {
  const last = rows.at(-1)
  return last === undefined ? undefined : place(last)
}
