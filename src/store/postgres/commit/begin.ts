import type { Statements } from '../connection/database.js'

/** A plan may be made for a small table and used for a large one. */
const lastingPlans = 'set local enable_seqscan = off; set local jit = off;'

/** The server ends a session that is idle inside a transaction for this long. */
const stallLimitMs = 5000

/** Longer than a stalled session can hold the lock, and shorter than the wait for an answer. */
const lockLimitMs = 6500

// Relies on: primary key. Read after the lock was granted, so the revisions cannot change until the transaction ends.
const REVISIONS_AND_TIME = `select jobs_revision, limits_revision,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as at from rota.meta where id = 1`

/** The statements that begin a transaction, take the lock of the schema, and read what cannot change until it ends. */
export function beginText(
  statements: Statements,
  { isExclusive, isDurable }: { isExclusive: boolean; isDurable: boolean },
): string {
  const lock = isExclusive ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared'
  const durability = isDurable ? '' : 'set local synchronous_commit = off;'
  const plans = statements.isPrepared ? lastingPlans : ''
  return `begin isolation level read committed; ${durability} ${plans} set local idle_in_transaction_session_timeout = ${stallLimitMs};
    set local lock_timeout = ${lockLimitMs}; select ${lock}(${statements.lockKey}); ${statements.text(REVISIONS_AND_TIME)}`
}
