import type { Pulse } from '../../overview.js'
import { readMeta } from '../meta.js'
import { running } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: primary keys, runs_ended and runs_running: each part reads one end of an index, and the
// running runs, which are few.
const NUMBERS = `select
  (select max(seq) from rota.runs) as runs,
  (select max(seq) from rota.ledger) as ledger,
  (select max(finished_at) from rota.runs where state >= 4) as ended_at,
  (select count(*) from rota.runs where state = ${running}) as running,
  (select max(claimed_at) from rota.runs where state = ${running}) as claimed_at,
  (select max(id) from rota.holds) as holds`

interface NumbersRow {
  readonly runs: number | null
  readonly ledger: number | null
  readonly ended_at: number | null
  readonly running: number
  readonly claimed_at: number | null
  readonly holds: number | null
}

/** The numbers of which one changes whenever something changes. */
export function* pulse(session: Session): Verb<Pulse> {
  const meta = yield* readMeta(session)
  const row = (yield* session.sql.get<NumbersRow>(NUMBERS)) as NumbersRow
  return {
    store: meta.store,
    epoch: meta.epoch,
    runs: row.runs ?? 0,
    ledger: row.ledger ?? 0,
    endedAt: row.ended_at ?? 0,
    running: row.running,
    claimedAt: row.claimed_at ?? 0,
    jobs: meta.jobs_revision,
    holds: row.holds ?? 0,
  }
}
