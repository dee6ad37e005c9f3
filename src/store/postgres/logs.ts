import { boundLogLine, emptyLog, type LogUse } from '../../kernel/definition/bounds.js'
import type { LogLine } from '../../kernel/run/run.js'
import type { Reading, StoredLogLine } from '../port.js'
import type { Session } from './session.js'

// Relies on: the unique index of runs.id.
const RUNS = `select seq, id from rota.runs where id = any($1::text[])`

// Relies on: primary key. The row's lock closes the race of two writers for one number; always in the same order.
const LOCK_USE = `insert into rota.log_use as use (run, lines, bytes, is_cut)
  select run, 0, 0, 0 from unnest($1::int8[]) run order by run
  on conflict (run) do update set lines = use.lines returning run, lines, bytes, is_cut`

// Relies on: primary key.
const APPEND = `insert into rota.logs (run, seq, attempt, at, level, text)
  select * from unnest($1::int8[], $2::int8[], $3::int4[], $4::int8[], $5::text[], $6::text[])`

const SAVE_USE = `update rota.log_use set lines = given.lines, bytes = given.bytes, is_cut = given.is_cut
  from unnest($1::int8[], $2::int8[], $3::int8[], $4::int2[]) given (run, lines, bytes, is_cut)
  where log_use.run = given.run`

// Relies on: the primary key of logs.
const READ = `select logs.seq, logs.attempt, at, level, text from rota.runs join rota.logs on logs.run = runs.seq
  where runs.id = $1 and logs.seq > $2 order by logs.seq limit $3`

/** Where the log of a run stands. */
interface Position {
  readonly run: number
  use: LogUse
}

interface Line extends LogLine {
  readonly key: number
  readonly seq: number
}

/** Adds lines to the logs of runs that exist, within their bounds. */
export async function log(session: Session, lines: readonly LogLine[]): Promise<void> {
  if (lines.length === 0) return
  const positions = await positionsOf(session, [...new Set(lines.map(({ run }) => run))])
  const written = lines.flatMap((line) => {
    const position = positions.get(line.run)
    return position === undefined ? [] : append(position, line)
  })
  if (positions.size === 0) return
  await Promise.all([write(session, written), save(session, [...positions.values()])])
}

/** The lines of a run after a number, oldest first. */
export async function logs(
  session: Session,
  request: Parameters<Reading['logs']>[0],
): Promise<StoredLogLine[]> {
  const { run, after = 0, limit } = request
  const rows = await session.db.all<Omit<StoredLogLine, 'run'>>(READ, run, after, limit)
  return rows.map(({ seq, attempt, at, level, text }) => ({ run, seq, attempt, at, level, text }))
}

async function positionsOf(session: Session, runs: readonly string[]): Promise<Map<string, Position>> {
  const found = await session.db.all<{ seq: number; id: string }>(RUNS, runs)
  type Use = { run: number; lines: number; bytes: number; is_cut: number }
  const uses = await session.db.changed<Use>(
    LOCK_USE,
    found.map(({ seq }) => seq),
  )
  const byRun = new Map(uses.map((use) => [use.run, use]))
  return new Map(
    found.map(({ seq, id }) => {
      const use = byRun.get(seq)
      if (use === undefined) return [id, { run: seq, use: emptyLog }]
      return [id, { run: seq, use: { lines: use.lines, bytes: use.bytes, isCut: use.is_cut === 1 } }]
    }),
  )
}

function append(position: Position, given: LogLine): Line[] {
  const { use, line } = boundLogLine(position.use, given)
  position.use = use
  if (line === undefined) return []
  // The line that says that the log was cut is not counted, and nothing follows it.
  return [{ ...line, key: position.run, seq: use.isCut ? use.lines + 1 : use.lines }]
}

async function write(session: Session, lines: readonly Line[]): Promise<void> {
  await session.db.change(
    APPEND,
    lines.map(({ key }) => key),
    lines.map(({ seq }) => seq),
    lines.map(({ attempt }) => attempt),
    lines.map(({ at }) => at),
    lines.map(({ level }) => level),
    lines.map(({ text }) => text),
  )
}

async function save(session: Session, positions: readonly Position[]): Promise<void> {
  await session.db.change(
    SAVE_USE,
    positions.map(({ run }) => run),
    positions.map(({ use }) => use.lines),
    positions.map(({ use }) => use.bytes),
    positions.map(({ use }) => (use.isCut ? 1 : 0)),
  )
}
