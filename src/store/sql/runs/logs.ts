import { boundLogLine, emptyLog, type LogUse } from '../../../kernel/definition/bounds.js'
import type { LogLine } from '../../../kernel/run/run.js'
import type { Reading, StoredLogLine } from '../../port.js'
import { insertInto, type SqlScalar } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: the unique index of runs.id.
const RUNS = `select seq, id from rota.runs where id = any($1::text[])`

const useColumns = { run: 'int8', lines: 'int8', bytes: 'int8', is_cut: 'int2' } as const

const BEGIN_USE = insertInto('rota.log_use', useColumns, 'on conflict (run) do nothing')

// Relies on: primary key. The row's lock closes the race of two writers for one number; rows are always locked in the
// same order, so that no two writers wait for each other.
const LOCK_USE = `select run, lines, bytes, is_cut from rota.log_use where run = any($1::int8[]) order by run for update`

const SAVE_USE = insertInto(
  'rota.log_use',
  useColumns,
  'on conflict (run) do update set lines = excluded.lines, bytes = excluded.bytes, is_cut = excluded.is_cut',
)

// Relies on: primary key.
const APPEND = insertInto('rota.logs', {
  run: 'int8',
  seq: 'int8',
  attempt: 'int4',
  at: 'int8',
  level: 'text',
  text: 'text',
})

// Relies on: the primary key of logs.
const READ = `select logs.seq, logs.attempt, at, level, text from rota.runs join rota.logs on logs.run = runs.seq
  where runs.id = $1 and logs.seq > $2 order by logs.seq limit $3`

/** How much of its size limit the log of a run uses. */
interface Position {
  readonly run: number
  use: LogUse
}

/** Appends lines to the logs of existing runs, within their size limits. */
export function* log(session: Session, lines: readonly LogLine[]): Verb<void> {
  if (lines.length === 0) return
  const positions = yield* positionsOf(session, [...new Set(lines.map(({ run }) => run))])
  const rows: SqlScalar[][] = []
  for (const line of lines) append(rows, positions.get(line.run), line)
  const used = [...positions.values()].map(({ run, use }) => [run, use.lines, use.bytes, use.isCut ? 1 : 0])
  yield* session.sql.together(session.sql.insert(APPEND, rows), session.sql.insert(SAVE_USE, used))
}

/** The lines of a run after a number, oldest first. */
export function* logs(session: Session, request: Parameters<Reading['logs']>[0]): Verb<StoredLogLine[]> {
  const { run, after = 0, limit } = request
  const rows = yield* session.sql.all<Omit<StoredLogLine, 'run'>>(READ, run, after, limit)
  return rows.map(({ seq, attempt, at, level, text }) => ({ run, seq, attempt, at, level, text }))
}

function* positionsOf(session: Session, runs: readonly string[]): Verb<Map<string, Position>> {
  const found = yield* session.sql.all<{ seq: number; id: string }>(RUNS, runs)
  // Two writers insert the rows in the same order, for the same reason.
  const keys = found.map(({ seq }) => seq).toSorted((one, other) => one - other)
  const { lines, bytes } = emptyLog
  yield* session.sql.insert(
    BEGIN_USE,
    keys.map((key) => [key, lines, bytes, 0]),
  )
  type Use = { run: number; lines: number; bytes: number; is_cut: number }
  const uses = yield* session.sql.all<Use>(LOCK_USE, keys)
  const byRun = new Map(uses.map((use) => [use.run, use]))
  return new Map(
    found.flatMap(({ seq, id }): [string, Position][] => {
      const use = byRun.get(seq)
      // The run was pruned meanwhile.
      if (use === undefined) return []
      return [[id, { run: seq, use: { lines: use.lines, bytes: use.bytes, isCut: use.is_cut === 1 } }]]
    }),
  )
}

function append(rows: SqlScalar[][], position: Position | undefined, given: LogLine): void {
  if (position === undefined) return
  const { use, line } = boundLogLine(position.use, given)
  position.use = use
  if (line === undefined) return
  // The last line of a cut log is not counted, and nothing follows it.
  const seq = use.isCut ? use.lines + 1 : use.lines
  rows.push([position.run, seq, line.attempt, line.at, line.level, line.text])
}
