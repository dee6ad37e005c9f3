import { boundLogLine, emptyLog, type LogUse } from '../../kernel/definition/bounds.js'
import type { LogLine } from '../../kernel/run/run.js'
import type { Reading, StoredLogLine } from '../port.js'
import type { Session } from './session.js'

// Relies on: the unique index of runs.id, then primary key.
const RUN = `select runs.seq, lines, bytes, is_cut from runs left join log_use on log_use.run = runs.seq where id = ?`

// Relies on: primary key. The write lock closes the race of two writers for one number.
const APPEND = `insert into logs (run, seq, attempt, at, level, text) values (?, ?, ?, ?, ?, ?)`

const SAVE_USE = `insert into log_use (run, lines, bytes, is_cut) values (?, ?, ?, ?)
  on conflict (run) do update set lines = excluded.lines, bytes = excluded.bytes, is_cut = excluded.is_cut`

// Relies on: the primary key of logs.
const READ = `select logs.seq, logs.attempt, at, level, text from runs join logs on logs.run = runs.seq
  where runs.id = ? and logs.seq > ? order by logs.seq limit ?`

/** Where the log of a run stands. */
interface Position {
  readonly run: number
  use: LogUse
}

/** Adds lines to the logs of runs that exist, within their bounds. */
export function log(session: Session, lines: readonly LogLine[]): void {
  const positions = new Map<string, Position | undefined>()
  for (const line of lines) {
    if (!positions.has(line.run)) positions.set(line.run, positionOf(session, line.run))
    const position = positions.get(line.run)
    if (position !== undefined) append(session, position, line)
  }
  for (const position of positions.values()) {
    if (position === undefined) continue
    const { lines, bytes, isCut } = position.use
    session.db.change(SAVE_USE, position.run, lines, bytes, isCut ? 1 : 0)
  }
}

/** The lines of a run after a number, oldest first. */
export function logs(session: Session, request: Parameters<Reading['logs']>[0]): StoredLogLine[] {
  const { run, after = 0, limit } = request
  const rows = session.db.all<Omit<StoredLogLine, 'run'>>(READ, run, after, limit)
  return rows.map(({ seq, attempt, at, level, text }) => ({ run, seq, attempt, at, level, text }))
}

function positionOf(session: Session, run: string): Position | undefined {
  const row = session.db.get<{ seq: number; lines: number | null; bytes: number; is_cut: number }>(RUN, run)
  if (row === undefined) return undefined
  if (row.lines === null) return { run: row.seq, use: emptyLog }
  return { run: row.seq, use: { lines: row.lines, bytes: row.bytes, isCut: row.is_cut === 1 } }
}

function append(session: Session, position: Position, given: LogLine): void {
  const { use, line } = boundLogLine(position.use, given)
  position.use = use
  if (line === undefined) return
  // The line that says that the log was cut is not counted, and nothing follows it.
  const seq = use.isCut ? use.lines + 1 : use.lines
  session.db.change(APPEND, position.run, seq, line.attempt, line.at, line.level, line.text)
}
