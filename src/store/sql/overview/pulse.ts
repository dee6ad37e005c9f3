import { removalWeight } from '../../../kernel/state/state-entry.js'
import type { Pulse } from '../../overview.js'
import { readMeta } from '../meta.js'
import { running } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** Processes may commit in another order than they read their clocks. The bound is a guess that costs little. */
const reorderedMs = 1000

// Relies on: primary keys, runs_ended, runs_running, workers_live and notes_at: each part reads one end of an index, or
// the running runs, live workers and holds, which are few.
const NUMBERS = `select
  (select max(seq) from rota.runs) as runs,
  (select max(seq) from rota.ledger) as ledger,
  (select max(finished_at) from rota.runs where state >= 4) as ended_at,
  (select count(*) from rota.runs where state = ${running}) as running,
  (select max(claimed_at) from rota.runs where state = ${running}) as claimed_at,
  (select max(id) + sum(is_released) from rota.holds)::int8 as holds,
  (select max(key) from rota.workers) as workers,
  (select count(*) from rota.workers where phase = 0) as live,
  (select max(at) from rota.notes) as state_at,
  (select sum(case when kind = 'removal' then ${removalWeight} else 1 end * revision) from rota.notes
    where at > (select max(at) from rota.notes) - ${reorderedMs})::int8 as state_revisions,
  (select max(seq) from rota.audit) as audit`

interface NumbersRow {
  readonly runs: number | null
  readonly ledger: number | null
  readonly ended_at: number | null
  readonly running: number
  readonly claimed_at: number | null
  readonly holds: number | null
  readonly workers: number | null
  readonly live: number
  readonly state_at: number | null
  readonly state_revisions: number | null
  readonly audit: number | null
}

/** Numbers that change whenever the store changes. */
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
    workers: row.workers ?? 0,
    live: row.live,
    stateAt: row.state_at ?? 0,
    stateRevisions: row.state_revisions ?? 0,
    audit: row.audit ?? 0,
  }
}
