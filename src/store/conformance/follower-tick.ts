import type { Tick } from '../../kernel/tick/tick.js'
import { planOf } from './stage.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { Store } from '../port.js'

/** The tick of a trigger; a follower removes a number of arrivals and may leave the rest. */
export async function tickOf(
  store: Store,
  due: DueTrigger,
  { now, limit }: { readonly now: Instant; readonly limit: number },
): Promise<Tick> {
  const planned = planOf(due, now)
  if (due.trigger.schedule.kind !== 'upstream') return planned
  const arrived = await store.stateEntries({ kind: 'arrival', names: [due.trigger.name], limit })
  const stateChanges = arrived.map(({ kind, name, item, revision }) => ({
    kind,
    name,
    item,
    revision,
    value: undefined,
  }))
  return { ...planned, stateChanges, takesArrivals: true }
}
