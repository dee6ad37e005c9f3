import { runView } from '../../wire/views/runs.js'
import type { BulkPlan } from './api.js'
import type { Bulk, SkipReason } from './bulk.js'
import { skipReasons } from './bulk.js'

/** A bulk as `--json` and the API show it. */
export function bulkView(bulk: Bulk) {
  const { next, skipped, ...rest } = bulk
  return { ...rest, left: bulk.state === 'running' ? bulk.total - next : 0, skipped: skippedView(skipped) }
}

/** What a bulk would do, as `--json` and the API show it. */
export function planView({ count, isCapped, skipped, examples }: BulkPlan) {
  return { count, capped: isCapped, skipped: skippedView(skipped), examples: examples.map(runView) }
}

function skippedView(skipped: Readonly<Record<string, number>>) {
  return Object.entries(skipped).map(([reason, count]) => ({
    reason,
    about: skipReasons[reason as SkipReason] ?? reason,
    count,
  }))
}

/** The state of a bulk, in words. */
export function progressText(bulk: Bulk): string {
  const { action, total, next, done, failed, skipped, state } = bulk
  const left = Object.entries(skipped).map(
    ([reason, count]) => `${count} skipped: ${skipReasons[reason as SkipReason] ?? reason}`,
  )
  const parts = [
    `${action} ${done} of ${total}`,
    ...left,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(state === 'aborted' ? [`aborted with ${total - next} left`] : []),
  ]
  return parts.join(', ')
}
