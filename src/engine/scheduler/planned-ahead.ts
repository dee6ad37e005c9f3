import type { Tick } from '../../kernel/tick/tick.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'

/** How long before their instant ticks are planned: as long as a thousand of them take on a slow machine. */
const aheadMs = 250

/** Plans ahead only if nothing was due for this long: otherwise each instant would cost two looks instead of one. */
const calmMs = 2000

/** Fewer ticks are planned just as fast when they are due; more would take too much memory. */
const fewest = 50
const most = 2000

/** Later ticks are planned again: the machine may have slept. */
const latestMs = 1000

/**
 * Ticks that are planned shortly before they are due. If many triggers are due in the same second, reading and planning
 * them takes as long as committing them. A plan is valid only if nothing at all was committed since.
 */
export class PlannedAhead {
  readonly #options: { readonly store: Store; readonly kinds: TriggerKinds }
  /** The next instant, if it is worth planning ahead. */
  #awaitedAt: Instant | undefined
  #planned: { readonly at: Instant; readonly stamp: unknown; readonly ticks: readonly Tick[] } | undefined

  constructor(options: { readonly store: Store; readonly kinds: TriggerKinds }) {
    this.#options = options
  }

  /** The ticks that are due now, if they are still valid. */
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
    // Read first, so that commits during the following reads are noticed, too.
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
        // The scheduler tries again when it is due, and reports the error then.
      }
    }
    this.#planned = { at, stamp, ticks }
  }
}
