import type { Turn } from '../../port.js'
import { limitedQueueOf } from '../../sql/catalog.js'
import type { ProcessCache } from './process-cache.js'

/** Whether a turn touches nothing but rows of its own, as far as this process remembers: its ends and its claims are independent. */
export function isPlainTurn(remembered: ProcessCache, { finished, claimRequest }: Turn): boolean {
  const { catalog } = remembered
  if (catalog === undefined) return false
  const isFree = (job: string): boolean => limitedQueueOf(catalog, job) === undefined
  if (claimRequest !== undefined && catalog.queueLimits.size > 0 && !claimRequest.jobs.every(isFree))
    return false
  return finished.every((item) => {
    const claim = remembered.claimOf(item.run)
    return claim !== undefined && claim.gates === null && !claim.hasEndEffect && isFree(claim.job)
  })
}
