import type { LedgerRange, RecordedRange } from '../../../kernel/ledger/ledger.js'
import type { Instant } from '../../../time/instant.js'
import type { Reading } from '../../port.js'
import { rangeOf, type RangeRow } from '../rows/run-rows.js'
import { insertInto } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

const RECORD = insertInto('rota.ledger', {
  trigger: 'text',
  first_at: 'int8',
  last_at: 'int8',
  version: 'int4',
  reason: 'text',
  rule: 'text',
  blocker: 'text',
  detail: 'text',
  recorded_at: 'int8',
})

// Relies on: ledger_first, which has both ends, so ranges outside the window are skipped without reading their rows.
const TOUCHING = `select * from rota.ledger where trigger = $1 and first_at <= $2 and last_at >= $3
  order by first_at, seq`

/** Records ranges of due instants. */
export function* recordRanges(
  session: Session,
  ranges: readonly LedgerRange[],
  recordedAt: Instant,
): Verb<void> {
  const rows = ranges.map((range) => {
    const { trigger, firstAt, lastAt, version, reason, rule, blocker = null, detail = null } = range
    return [trigger, firstAt, lastAt, version, reason, rule, blocker, detail, recordedAt]
  })
  yield* session.sql.insert(RECORD, rows)
}

/** The ranges of a trigger that overlap a window, oldest first. */
export function* ledger(session: Session, request: Parameters<Reading['ledger']>[0]): Verb<RecordedRange[]> {
  const { trigger, fromAt, untilAt } = request
  return (yield* session.sql.all<RangeRow>(TOUCHING, trigger, untilAt, fromAt)).map(rangeOf)
}
