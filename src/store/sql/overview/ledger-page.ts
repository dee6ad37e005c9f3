import type { LedgerEntry, LedgerPage } from '../../overview.js'
import { rangeOf, type RangeRow } from '../rows/run-rows.js'
import type { SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** Ranges of the ledger, the newest recorded first. Relies on: primary key backwards, or ledger_first for one trigger. */
export function* ledgerPage(
  session: Session,
  { limit, before, trigger, reasons }: LedgerPage,
): Verb<LedgerEntry[]> {
  const values: SqlValue[] = []
  const conditions = ['true']
  const where = (condition: (place: string) => string, bound: SqlValue | undefined): void => {
    if (bound === undefined) return
    values.push(bound)
    conditions.push(condition(`$${values.length}`))
  }
  where((place) => `seq < ${place}`, before)
  where((place) => `trigger = ${place}`, trigger)
  where((place) => `reason = any(${place}::text[])`, reasons)
  values.push(limit)
  const sql = `select * from rota.ledger where ${conditions.join(' and ')} order by seq desc limit $${values.length}`
  return (yield* session.sql.all<RangeRow>(sql, ...values)).map((row) => ({ ...rangeOf(row), seq: row.seq }))
}
