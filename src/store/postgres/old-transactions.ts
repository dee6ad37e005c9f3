import { formatDuration } from '../../time/duration.js'
import type { StoreWarning } from '../store-health.js'
import type { Database } from './connection/database.js'

/** From which age on an open transaction is reported. */
export interface Patience {
  readonly ms: number
  /** For sessions of other roles, whose times only `pg_read_all_stats` may read: their age in transactions. */
  readonly transactions: number
}

const patience: Patience = { ms: 5 * 60_000, transactions: 50_000 }

// Only transactions that block vacuum: one with neither a number nor a snapshot may stay open. For sessions of other
// roles only their identity and age in transactions are visible; the server's own have no role.
const OPEN = `select pid, application_name as program, usename as role, state,
    floor(extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as open_ms, behind
  from pg_stat_activity cross join lateral (select greatest(age(backend_xid), age(backend_xmin)) as behind) held
  where datname = current_database() and usename is not null
    and coalesce(backend_type, 'client backend') = 'client backend' and pid <> pg_backend_pid()
    and behind is not null
    and (extract(epoch from clock_timestamp() - xact_start) * 1000 >= $1 or (xact_start is null and behind >= $2))
  order by behind desc limit 3`

const PREPARED = `select gid, owner as role,
    floor(extract(epoch from clock_timestamp() - prepared) * 1000)::float8 as open_ms
  from pg_prepared_xacts where database = current_database()
    and extract(epoch from clock_timestamp() - prepared) * 1000 >= $1
  order by prepared limit 3`

interface OpenRow {
  readonly pid: number
  readonly program: string | null
  readonly role: string | null
  readonly state: string | null
  readonly open_ms: number | null
  readonly behind: number
}

interface PreparedRow {
  readonly gid: string
  readonly role: string
  readonly open_ms: number
}

/** Transactions in this database that keep vacuum from removing dead rows, the oldest first. */
export async function oldTransactions(db: Database, given: Patience = patience): Promise<StoreWarning[]> {
  const open = await db.all<OpenRow>(OPEN, given.ms, given.transactions)
  const prepared = await db.all<PreparedRow>(PREPARED, given.ms)
  return [...open.map(openWarning), ...prepared.map(preparedWarning)]
}

const effect = 'vacuum cannot remove newer dead rows'

function openWarning({ pid, program, role, state, open_ms: openMs, behind }: OpenRow): StoreWarning {
  const of = `${program || 'without a name'}, role ${role ?? 'unknown'}${state === null ? '' : `, ${state}`}`
  const since =
    openMs === null ? `for the last ${behind} transactions` : `for ${formatDuration(toSeconds(openMs))}`
  return {
    message: `session ${pid} (${of}) has had a transaction open ${since}: ${effect}`,
    todo: `end it where it was begun, or with \`select pg_terminate_backend(${pid})\``,
  }
}

function preparedWarning({ gid, role, open_ms: openMs }: PreparedRow): StoreWarning {
  const name = gid.replaceAll("'", "''")
  return {
    message: `the prepared transaction '${name}' of role ${role} has waited for ${formatDuration(toSeconds(openMs))}: ${effect}`,
    todo: `its coordinator must decide: \`commit prepared '${name}'\` or \`rollback prepared '${name}'\``,
  }
}

/** Rounds to seconds for display. */
function toSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
