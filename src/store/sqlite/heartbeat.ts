import type { Instant } from '../../time/instant.js'
import type { Beat } from '../port.js'
import { highestTime } from '../sql/meta.js'
import { performNow } from '../sql/verb.js'
import type { Session } from './session.js'

// Relies on: primary key. No two states of the store have the same epoch.
const RAISE_EPOCH = `update meta set epoch = epoch + 1 where id = 1`

// Relies on: the unique index of workers.id. The phase closes the race with a process that expires the worker.
const RENEW = `update workers set beat_at = ?, lease_until = ? where id = ? and phase = 0`

const IS_DRAINING = `select is_draining from workers where id = ?`

/** Renews the lease of a worker that is not gone, from the highest time on: a clock set back must not shorten it. */
export function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): Beat {
  session.noteTime(request.now)
  session.writeTime(0)
  session.db.change(RAISE_EPOCH)
  const at = performNow(highestTime(session))
  if (session.db.change(RENEW, at, at + request.leaseMs, request.worker) === 0) return 'expired'
  return session.db.value(IS_DRAINING, request.worker) === 1 ? 'draining' : 'alive'
}
