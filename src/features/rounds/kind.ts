import { grid } from '../../engine/timed/kinds.js'
import type { TriggerKind } from '../../engine/trigger-kind.js'
import { anchoredRound, refuseOtherIntervals, sharedServices } from './changes.js'
import { roundFacts } from './facts.js'
import { closeRound, planRound, type RoundFacts } from './plan.js'

/** A round: an interval whose due instants are checks of its services. */
export const roundKind: TriggerKind<RoundFacts> = {
  ...grid,
  name: 'round',
  origin: 'round',
  anchor: anchoredRound,
  facts: roundFacts,
  plan: planRound,
  close: (due, { cycle }, at) => closeRound(due, cycle?.value, at),
  check: refuseOtherIntervals,
  sharedJobs: sharedServices,
}
