import type { Fact, FactPage, Phase, RunFact, TriggerFact, WorkerFact } from '../../../kernel/run/fact.js'
import type { RecordedRange } from '../../../kernel/ledger/ledger.js'
import { isParked, phases } from '../rows/states.js'
import { workerOf, type WorkerRow } from '../rows/worker-rows.js'
import { entriesAfter } from '../audit.js'
import { storedQueues } from '../catalog.js'
import { countersOf } from '../meta.js'
import { stateEntriesAfter } from '../state.js'
import { jobs, versions } from '../planning/read-definitions.js'
import { attemptsOf, FROM_RUNS } from '../runs/read-runs.js'
import {
  endEffectOf,
  holdOf,
  orUndefined,
  rangeOf,
  runOf,
  type HoldRow,
  type RangeRow,
  type RunRow,
} from '../rows/run-rows.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'

// Each relies on: primary key, read from a key on.
const WORKERS = `select * from rota.workers where key > $1 order by key limit $2`
// Delivered notices are no longer facts, although they are kept until the next turn.
const NOTICES = `select run, attempt, kind from rota.notices where worker = $1 and id > $2 order by id`
const HOLDS = `select * from rota.holds where id > $1 order by id limit $2`
const RUNS = `${FROM_RUNS} where runs.seq > $1 order by runs.seq limit $2`
const RANGES = `select * from rota.ledger where seq > $1 order by seq limit $2`
const SEEN = `select trigger, digest, until_at from rota.seen
  where (trigger, digest) > ($1, $2) order by trigger, digest limit $3`
const TRIGGERS = `select name, fingerprint, kept_at, ${TRIGGER_COLUMNS} ${FROM_TRIGGERS}
  where triggers.name > $1 order by triggers.name limit $2`
const LOGS = `select runs.id as run, logs.seq, logs.attempt, logs.at, logs.level, logs.text
  from rota.logs join rota.runs on runs.seq = logs.run
  where logs.run > $1 and logs.run <= $2 order by logs.run, logs.seq`

/** Facts from a key on, and the last key; undefined if there are none. */
type Found = { facts: Fact[]; last: string | undefined }

type Section = (session: Session, after: string, limit: number) => Verb<Found>

const sections: readonly Section[] = [
  queues,
  function* (session) {
    return once((yield* jobs(session)).map(({ job, source }) => ({ kind: 'job', job, source })))
  },
  workers,
  holds,
  triggers,
  runs,
  ranges,
  noted,
  seen,
  audited,
  function* (session) {
    return once([{ kind: 'counters', ...(yield* countersOf(session)) }])
  },
]

/** A page of the facts. */
export function* facts(
  session: Session,
  request: { after?: string | undefined; limit: number },
): Verb<FactPage> {
  const [index, after] =
    request.after === undefined ? [0, ''] : (JSON.parse(request.after) as [number, string])
  const section = sections[index]
  const found = section === undefined ? once([]) : yield* section(session, after, request.limit)
  if (found.last !== undefined) return { facts: found.facts, next: JSON.stringify([index, found.last]) }
  const next = index + 1 < sections.length ? JSON.stringify([index + 1, '']) : undefined
  return { facts: found.facts, next }
}

function once(facts: Fact[]): Found {
  return { facts, last: undefined }
}

function* queues(session: Session): Verb<Found> {
  return once((yield* storedQueues(session.sql)).map((queue) => ({ kind: 'queue', queue })))
}

function* workers(session: Session, after: string, limit: number): Verb<Found> {
  type Row = WorkerRow & { key: number; phase: number }
  const rows = yield* session.sql.all<Row>(WORKERS, Number(after), limit)
  const facts: Fact[] = []
  for (const row of rows) {
    const heard = session.native.lastNoticeOf(row.id)
    const notices = yield* session.sql.all<WorkerFact['notices'][number]>(NOTICES, row.key, heard)
    facts.push({ kind: 'worker', worker: { ...workerOf(row), isGone: row.phase > 0, notices } })
  }
  return { facts, last: lastOf(rows, ({ key }) => String(key)) }
}

function* holds(session: Session, after: string, limit: number): Verb<Found> {
  const rows = yield* session.sql.all<HoldRow & { is_released: number }>(HOLDS, Number(after), limit)
  const facts = rows.map(
    (row): Fact => ({ kind: 'hold', hold: holdOf(row), isReleased: row.is_released === 1 }),
  )
  return { facts, last: lastOf(rows, ({ id }) => String(id)) }
}

function* triggers(session: Session, after: string, limit: number): Verb<Found> {
  type Row = TriggerRow & { name: string; fingerprint: string; kept_at: number | null }
  const rows = yield* session.sql.all<Row>(TRIGGERS, after, limit)
  const facts: Fact[] = []
  for (const row of rows) {
    const trigger: TriggerFact = {
      ...storedTriggerOf(row),
      fingerprint: row.fingerprint,
      keptAt: orUndefined(row.kept_at),
      versions: yield* versions(session, row.name),
    }
    facts.push({ kind: 'trigger', trigger })
  }
  return { facts, last: lastOf(rows, ({ name }) => name) }
}

type StoredRun = RunRow & { readonly unique_until: number | null }

function* runs(session: Session, after: string, limit: number): Verb<Found> {
  const rows = yield* session.sql.all<StoredRun>(RUNS, Number(after), limit)
  const last = rows.at(-1)?.seq
  const found: Fact[] = []
  for (const row of rows) found.push({ kind: 'run', run: yield* runFact(session, row) })
  const logged = last === undefined ? [] : yield* logsBetween(session, Number(after), last)
  return { facts: [...found, ...logged], last: last === undefined ? undefined : String(last) }
}

function* runFact(session: Session, row: StoredRun): Verb<RunFact> {
  const { state: _state, ...run } = runOf(row)
  return {
    ...run,
    phase: isParked(row.waits_for) ? 'ready' : (phases[row.state] as Phase),
    endEffect: endEffectOf(session.endEffects, row.follow)?.name,
    uniqueUntil: orUndefined(row.unique_until),
    attempts: yield* attemptsOf(session, row),
  }
}

function* logsBetween(session: Session, after: number, last: number): Verb<Fact[]> {
  type Line = Extract<Fact, { kind: 'log' }>['lines'][number]
  const lines = new Map<string, Line[]>()
  for (const { run, attempt, at, level, text } of yield* session.sql.all<Line>(LOGS, after, last)) {
    const known = lines.get(run) ?? []
    known.push({ run, attempt, at, level, text })
    lines.set(run, known)
  }
  return [...lines.values()].map((of) => ({ kind: 'log', lines: of }))
}

function* ranges(session: Session, after: string, limit: number): Verb<Found> {
  const rows = yield* session.sql.all<RangeRow>(RANGES, Number(after), limit)
  const facts = rows.map((row): Fact => ({ kind: 'range', range: rangeOf(row) satisfies RecordedRange }))
  return { facts, last: lastOf(rows, ({ seq }) => String(seq)) }
}

function* noted(session: Session, after: string, limit: number): Verb<Found> {
  const key = after === '' ? (['', '', ''] as const) : (JSON.parse(after) as [string, string, string])
  const rows = yield* stateEntriesAfter(session, key, limit)
  const facts = rows.map((note): Fact => ({ kind: 'note', note }))
  return { facts, last: lastOf(rows, ({ kind, name, item }) => JSON.stringify([kind, name, item])) }
}

function* seen(session: Session, after: string, limit: number): Verb<Found> {
  const [trigger = '', digest = ''] = after === '' ? [] : (JSON.parse(after) as string[])
  type Row = { trigger: string; digest: string; until_at: number | null }
  const rows = yield* session.sql.all<Row>(SEEN, trigger, digest, limit)
  const facts = rows.map((row): Fact => {
    const key = { digest: row.digest, untilAt: orUndefined(row.until_at) }
    return { kind: 'seen', trigger: row.trigger, key }
  })
  return { facts, last: lastOf(rows, (row) => JSON.stringify([row.trigger, row.digest])) }
}

function* audited(session: Session, after: string, limit: number): Verb<Found> {
  const entries = yield* entriesAfter(session, Number(after), limit)
  const facts = entries.map(({ seq: _seq, ...entry }): Fact => ({ kind: 'audit', entry }))
  return { facts, last: lastOf(entries, ({ seq }) => String(seq)) }
}

function lastOf<Row>(rows: readonly Row[], place: (row: Row) => string): string | undefined {
  const last = rows.at(-1)
  return last === undefined ? undefined : place(last)
}
