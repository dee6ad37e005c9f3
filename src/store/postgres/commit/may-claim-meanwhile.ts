import type { Turn } from '../../port.js'
import { limitedQueueOf } from '../../sql/catalog.js'
import type { ProcessCache } from './process-cache.js'

/**
 * Whether the claims of a turn do not depend on its ends, as far as this process knows. Ends that free a place in a limited
 * queue must come first. Ends that free concurrency slots need not, while more runs are ready than were claimed.
 */
export function mayClaimMeanwhile(remembered: ProcessCache, { finished, claimRequest }: Turn): boolean {
  const { catalog, isMoreReady } = remembered
  if (catalog === undefined) return false
  const isFree = (job: string): boolean => limitedQueueOf(catalog, job) === undefined
  if (claimRequest !== undefined && catalog.queueLimits.size > 0 && !claimRequest.jobs.every(isFree))
    return false
  return finished.every((item) => {
    const claim = remembered.claimOf(item.run)
    if (claim === undefined || claim.hasEndEffect || !isFree(claim.job)) return false
    return claim.gates === null || isMoreReady
  })
}
