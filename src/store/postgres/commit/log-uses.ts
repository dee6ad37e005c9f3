import type { RunId } from '../../../kernel/identity/identity.js'
import { logUseColumns } from '../../sql/runs/logs.js'
import type { StoredLogUse } from '../../sql/runs/native-verbs.js'
import type { Session } from '../../sql/session.js'
import { insertInto } from '../../sql/statement.js'
import type { Verb } from '../../sql/verb.js'

// Relies on: the unique index of runs.id.
const RUNS = `select seq, id from rota.runs where id = any($1::text[])`

const BEGIN_USE = insertInto('rota.log_use', logUseColumns, 'on conflict (run) do nothing')

// Relies on: primary key. The row's lock closes the race of two writers for one number; rows are always locked in the
// same order, so that no two writers wait for each other.
const LOCK_USE = `select run, lines, bytes, is_cut from rota.log_use where run = any($1::int8[]) order by run for update`

/** Locks the uses of logs; the row of a new log is created, since an absent one cannot be locked. */
export function* lockLogUses(session: Session, runs: readonly RunId[]): Verb<StoredLogUse[]> {
  const found = yield* session.sql.all<{ seq: number; id: RunId }>(RUNS, runs)
  const byKey = new Map(found.map(({ seq, id }) => [seq, id]))
  // Two writers insert the rows in the same order, for the same reason.
  const keys = [...byKey.keys()].toSorted((one, other) => one - other)
  yield* session.sql.insert(
    BEGIN_USE,
    keys.map((key) => [key, 0, 0, 0]),
  )
  // The row of a run that was pruned meanwhile is absent.
  const uses = yield* session.sql.all<Omit<StoredLogUse, 'id'>>(LOCK_USE, keys)
  return uses.map((use) => ({ ...use, id: byKey.get(use.run) as RunId }))
}
