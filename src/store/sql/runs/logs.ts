import { boundLogLine, type LogUse } from '../../../kernel/definition/bounds.js'
import type { LogLine } from '../../../kernel/run/run.js'
import type { Reading, StoredLogLine } from '../../port.js'
import { insertInto, type SqlScalar } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import type { StoredLogUse } from './native-verbs.js'

/** The columns of the rows that say how much of its size limit a log uses. */
export const logUseColumns = { run: 'int8', lines: 'int8', bytes: 'int8', is_cut: 'int2' } as const

// Relies on: primary key.
const SAVE_USE = insertInto(
  'rota.log_use',
  logUseColumns,
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
  const uses = yield* session.native.logUses([...new Set(lines.map(({ run }) => run))])
  const positions = new Map(uses.map((use) => [use.id, positionOf(use)]))
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

function positionOf({ run, lines, bytes, is_cut }: StoredLogUse): Position {
  return { run, use: { lines, bytes, isCut: is_cut === 1 } }
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
