import type { Tick } from '../../kernel/tick/tick.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'

/** How long before their instant ticks are planned: as long as a thousand of them take on a slow machine. */
const aheadMs = 250

/** Only where nothing was due for this long: otherwise the scheduler is awake anyway, and each instant would cost two looks. */
const calmMs = 2000

/** Fewer are planned as fast as they are found to be planned already; more would be too much to keep. */
const fewest = 50
const most = 2000

/** Ticks that are later than this are planned anew: the machine may have slept. */
const latestMs = 1000

/**
 * Ticks that are planned shortly before they are due. When many triggers are due in the same second, reading and planning
 * them takes as long as committing them. A plan counts only as long as nothing at all was committed since it was made.
 */
export class PlannedAhead {
  readonly #options: { readonly store: Store; readonly kinds: TriggerKinds }
  /** The instant that is awaited, where it is one to plan for. */
  #awaitedAt: Instant | undefined
  #planned: { readonly at: Instant; readonly stamp: unknown; readonly ticks: readonly Tick[] } | undefined

  constructor(options: { readonly store: Store; readonly kinds: TriggerKinds }) {
    this.#options = options
  }

  /** The ticks whose instant has come, if they still count. */
  async take(now: Instant): Promise<readonly Tick[]> {
    const planned = this.#planned
    if (planned === undefined || now < planned.at) return []
    this.#planned = undefined
    if (now > planned.at + latestMs) return []
    return (await this.#options.store.stamp?.()) === planned.stamp ? planned.ticks : []
  }

  /** When to look again, while nothing is due before `nextAt`: some time before it, and then at it. */
  async lookAt(nextAt: Instant, now: Instant): Promise<Instant> {
    if (this.#options.store.stamp === undefined || nextAt === Infinity) return nextAt
    if (nextAt - now > calmMs) this.#awaitedAt = nextAt
    if (this.#awaitedAt !== nextAt) return nextAt
    if (nextAt - now > aheadMs) return nextAt - aheadMs
    this.#awaitedAt = undefined
    await this.#plan(nextAt)
    return nextAt
  }

  async #plan(at: Instant): Promise<void> {
    const { store, kinds } = this.#options
    // Before anything is read: what is committed meanwhile counts as well.
    const stamp = await store.stamp?.()
    const due = await store.due({ now: at, limit: most })
    if (due.length < fewest) return
    const ticks: Tick[] = []
    for (const one of due) {
      const kind = kindOf(kinds, one.trigger)
      if (kind.facts !== undefined) continue
      try {
        const tick = kind.plan?.(one, undefined, at)
        if (tick !== undefined) ticks.push(tick)
      } catch {
        // It is tried again, and reported, when it is due.
      }
    }
    this.#planned = { at, stamp, ticks }
  }
}
