import type { Hold } from '../../kernel/hold/hold.js'
import { followedAssets, type StoredTrigger } from '../../kernel/trigger/trigger.js'

/** Whether a trigger ticks, or why not. */
export type TriggerState = 'on' | 'paused' | 'frozen' | 'switched off' | 'disabled' | 'over' | 'ended'

/** The state of a trigger with the holds in force. */
export function triggerState(
  { trigger, active, nextAt, chainRun }: StoredTrigger,
  holds: readonly Hold[],
): TriggerState {
  const targets = new Set<string>(holds.map((hold) => hold.target))
  if (!active) return 'ended'
  if (!trigger.enabled) return 'disabled'
  if (targets.has('switch:pipeline') || targets.has('switch:scheduler')) return 'switched off'
  if (targets.has('all')) return 'frozen'
  if (targets.has(`trigger:${trigger.name}`)) return 'paused'
  const isFollowing = followedAssets(trigger.schedule).length > 0
  return nextAt === undefined && chainRun === undefined && !isFollowing ? 'over' : 'on'
}
