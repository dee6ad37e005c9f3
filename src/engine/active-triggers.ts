import type { StoredTrigger } from '../kernel/trigger/trigger.js'
import type { Store } from '../store/port.js'
import { nextTurn } from '../time/turn.js'

/** Small enough that one step does not delay other work. */
const atOnce = 100

/** The active triggers of a source, by name. Read in steps: there may be many. */
export async function* activeTriggers(store: Store, source: string): AsyncGenerator<StoredTrigger> {
  let name = ''
  for (;;) {
    const after = { name }
    const page = await store.triggersPage({ order: 'name', source, active: true, limit: atOnce, after })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < atOnce) return
    name = last.trigger.name
    await nextTurn()
  }
}
