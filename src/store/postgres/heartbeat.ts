import type { Instant } from '../../time/instant.js'
import type { Beat } from '../port.js'
import type { Session } from './commit/session.js'

// Relies on: the unique index of workers.id. The phase closes the race with a process that expires the worker: the
// second one waits for the row and then sees the change of the first. One statement, so no lock is held while the
// answer is being sent.
const RENEW = `with raised as (
    update rota.meta set epoch = epoch + 1, highest_at = greatest(highest_at, $1::int8) where id = 1 returning highest_at
  )
  update rota.workers set beat_at = raised.highest_at, lease_until = raised.highest_at + $2::int8 from raised
  where id = $3 and phase = 0 returning is_draining`

/** Renews a lease from the highest time on, unless the worker was declared gone. */
export async function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): Promise<Beat> {
  const { remembered } = session
  remembered.noteTime(request.now)
  const at = remembered.highestAt
  const isDraining = await session.db.value(RENEW, at, request.leaseMs, request.worker)
  remembered.timeWritten(at)
  if (isDraining === undefined) return 'expired'
  return isDraining === 1 ? 'draining' : 'alive'
}

/** How long a renewal may take: it waits for no lock, and a lease must not expire because of a broken connection. */
export function beatLimitMs({ leaseMs }: { leaseMs: number }): number {
  return Math.max(shortestBeatMs, leaseMs / 6)
}

const shortestBeatMs = 1000
