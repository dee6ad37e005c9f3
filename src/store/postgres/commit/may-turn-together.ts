import type { Turn } from '../../port.js'
import { limitedQueueOf } from '../../sql/catalog.js'
import type { ProcessCache } from './process-cache.js'
import type { Session } from './session.js'

// Relies on: the unique index of workers.id, then notices_worker.
const FORGET_NOTICES = `delete from rota.notices
  where worker = (select key from rota.workers where id = $1) and id <= $2`

/** Writes down what may otherwise wait: the highest time, and that notices were heard, which the next turn would say. */
export async function settle(session: Session): Promise<void> {
  const { db, remembered } = session
  await session.writeTime(0)
  for (const [worker, notice] of remembered.allHeard) await db.change(FORGET_NOTICES, worker, notice)
}

/** Whether a turn touches nothing but rows of its own, as far as this process remembers: others may write meanwhile. */
export function mayTurnTogether(remembered: ProcessCache, { finished, claimRequest }: Turn): boolean {
  const { catalog } = remembered
  if (catalog === undefined) return false
  const isFree = (job: string): boolean => limitedQueueOf(catalog, job) === undefined
  if (claimRequest !== undefined && catalog.queueLimits.size > 0 && !claimRequest.jobs.every(isFree))
    return false
  return finished.every((item) => {
    const claim = remembered.claimOf(item.run)
    return claim?.isPlain === true && isFree(claim.job)
  })
}
