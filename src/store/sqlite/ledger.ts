import type { LedgerRange, RecordedRange } from '../../kernel/ledger/ledger.js'
import type { Instant } from '../../time/instant.js'
import type { Reading } from '../port.js'
import { rangeOf, type RangeRow } from '../sql/rows.js'
import type { Session } from './session.js'

const RECORD = `insert into ledger (trigger, first_at, last_at, version, reason, rule, blocker, detail, recorded_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Relies on: ledger_first, which holds both ends, so ranges outside the window are passed without reading them.
const TOUCHING = `select * from ledger where trigger = ? and first_at <= ? and last_at >= ? order by first_at, seq`

/** Records what became of a range of due instants; answers its place. */
export function recordRange(session: Session, range: LedgerRange, recordedAt: Instant): number {
  const { trigger, firstAt, lastAt, version, reason, rule, blocker = null, detail = null } = range
  const { db } = session
  return db.run(RECORD, trigger, firstAt, lastAt, version, reason, rule, blocker, detail, recordedAt).lastKey
}

/** The ranges of a trigger that touch a window, oldest first. */
export function ledger(session: Session, request: Parameters<Reading['ledger']>[0]): RecordedRange[] {
  const { trigger, fromAt, untilAt } = request
  return session.db.all<RangeRow>(TOUCHING, trigger, untilAt, fromAt).map(rangeOf)
}
