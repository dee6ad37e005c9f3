import type { LedgerRange, RecordedRange } from '../../kernel/ledger/ledger.js'
import type { Instant } from '../../time/instant.js'
import type { Reading } from '../port.js'
import { rangeOf, type RangeRow } from '../sql/rows.js'
import type { Session } from './session.js'

const RECORD = `insert into rota.ledger (trigger, first_at, last_at, version, reason, rule, blocker, detail, recorded_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning seq`

// Relies on: ledger_first, which holds both ends, so ranges outside the window are passed without reading them.
const TOUCHING = `select * from rota.ledger where trigger = $1 and first_at <= $2 and last_at >= $3
  order by first_at, seq`

/** Records what became of ranges of due instants. */
export async function recordRanges(
  session: Session,
  ranges: readonly LedgerRange[],
  recordedAt: Instant,
): Promise<void> {
  await Promise.all(ranges.map((range) => recordRange(session, range, recordedAt)))
}

/** Records what became of a range of due instants; answers its place. */
export async function recordRange(
  session: Session,
  range: LedgerRange,
  recordedAt: Instant,
): Promise<number> {
  const { trigger, firstAt, lastAt, version, reason, rule, blocker = null, detail = null } = range
  const values = [trigger, firstAt, lastAt, version, reason, rule, blocker, detail, recordedAt] as const
  const [row] = await session.db.changed<{ seq: number }>(RECORD, ...values)
  return (row as { seq: number }).seq
}

/** The ranges of a trigger that touch a window, oldest first. */
export async function ledger(
  session: Session,
  request: Parameters<Reading['ledger']>[0],
): Promise<RecordedRange[]> {
  const { trigger, fromAt, untilAt } = request
  return (await session.db.all<RangeRow>(TOUCHING, trigger, untilAt, fromAt)).map(rangeOf)
}
