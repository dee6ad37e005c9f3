import type { LedgerEntry, LedgerPage } from '../../overview.js'
import { rangeOf, type RangeRow } from '../rows/run-rows.js'
import type { SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** How many ranges one step reads: other work continues in between. */
const rangesPerLook = 2000

// Relies on: primary key backwards.
const LOOK_END = `select seq from rota.ledger where seq < $1 order by seq desc limit 1 offset ${rangesPerLook - 1}`

/** A part of a page, and where to continue if there is more. */
export interface LedgerPart {
  readonly entries: readonly LedgerEntry[]
  readonly next: LedgerPage | undefined
}

/** Ranges of the ledger, the newest recorded first; reads a bounded number. */
export function* ledgerPage(session: Session, request: LedgerPage): Verb<LedgerPart> {
  const { limit, before = Number.MAX_SAFE_INTEGER, triggers, reasons, fromAt, untilAt } = request
  const end = triggers === undefined ? yield* session.sql.value<number>(LOOK_END, before) : undefined
  const values: SqlValue[] = [before]
  const conditions = ['seq < $1']
  const where = (condition: (place: string) => string, bound: SqlValue | undefined): void => {
    if (bound === undefined) return
    values.push(bound)
    conditions.push(condition(`$${values.length}`))
  }
  where((place) => `seq >= ${place}`, end)
  // Relies on: ledger_first, which begins with the trigger; the others on the primary key.
  where((place) => `trigger = any(${place}::text[])`, triggers)
  where((place) => `reason = any(${place}::text[])`, reasons)
  where((place) => `recorded_at >= ${place}`, fromAt)
  where((place) => `recorded_at <= ${place}`, untilAt)
  values.push(limit)
  const sql = `select * from rota.ledger where ${conditions.join(' and ')} order by seq desc limit $${values.length}`
  const rows = yield* session.sql.all<RangeRow>(sql, ...values)
  const entries = rows.map((row) => ({ ...rangeOf(row), seq: row.seq }))
  const rest = limit - entries.length
  return {
    entries,
    next: end === undefined || rest === 0 ? undefined : { ...request, before: end, limit: rest },
  }
}
