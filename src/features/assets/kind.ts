import { specOf, type TriggerKind } from '../../engine/trigger-kind.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { upstreamFacts, type FollowerFacts } from './facts.js'
import { planUpstream } from './plan.js'

/** An asset that follows others: due for a partition when the partitions that it needs are done. */
export const upstreamKind: TriggerKind<FollowerFacts> = {
  name: 'upstream',
  origin: 'upstream',
  instants: () => undefined,
  // Immediately: there may be arrivals from an earlier definition.
  begin: ({ enabled }, _current, now) => ({ cursorAt: now, nextAt: enabled ? now : undefined }),
  facts: (store, due, { now }) => upstreamFacts(store, due, now),
  plan: (due, facts, now) => {
    if (facts instanceof RotaError) throw facts
    return planUpstream(due, facts, now)
  },
  describe: (trigger) => `after ${specOf(trigger, 'upstream').assets.join(', ')}`,
}
