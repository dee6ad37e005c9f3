import type { TriggerKinds } from '../../engine/trigger-kind.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { TriggersPage } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import { MINUTE_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { exclusions, instantsToCome } from './due.js'

/** The next due instants of all triggers. */
export interface Upcoming {
  readonly untilAt: Instant
  readonly count: number
  /** Whether there are more triggers or instants than were read. */
  readonly isCapped: boolean
  /** How many instants each minute has. */
  readonly minutes: readonly { readonly at: Instant; readonly count: number }[]
  readonly instants: readonly {
    readonly at: Instant
    readonly count: number
    /** Some of the triggers that are due then. */
    readonly triggers: readonly StoredTrigger[]
  }[]
}

const mostTriggers = 5000
const mostInstants = 50_000
const triggersPerPage = 100
/** After this many triggers or instants other work continues; parsing an expression costs more than an instant. */
const triggersPerTurn = 20
const instantsPerTurn = 500
const mostShown = 20
const mostNamed = 5

/** Computes the due instants of the next hour, or of any other range of time. */
export async function upcoming(
  store: Store,
  { kinds, now, untilAt }: { readonly kinds: TriggerKinds; readonly now: Instant; readonly untilAt: Instant },
): Promise<Upcoming> {
  const found = new Map<Instant, { count: number; triggers: StoredTrigger[] }>()
  let [count, looked, isCapped] = [0, 0, false]
  for await (const stored of byNextTick(store, untilAt)) {
    if (looked >= mostTriggers || count >= mostInstants) {
      isCapped = true
      break
    }
    looked += 1
    if (looked % triggersPerTurn === 0) await nextTurn()
    const isExcluded = exclusions(stored)
    for (const at of instantsToCome(kinds, stored, { afterAt: now, untilAt })) {
      if (isExcluded(at) !== undefined) continue
      const known = found.get(at) ?? { count: 0, triggers: [] }
      if (known.triggers.length < mostNamed) known.triggers.push(stored)
      found.set(at, { ...known, count: known.count + 1 })
      count += 1
      if (count % instantsPerTurn === 0) await nextTurn()
      if (count >= mostInstants) break
    }
  }
  const instants = [...found].toSorted(([one], [other]) => one - other)
  return {
    untilAt,
    count,
    isCapped,
    minutes: minutesOf(instants, { now, untilAt }),
    instants: instants.slice(0, mostShown).map(([at, known]) => ({ at, ...known })),
  }
}

/** The triggers whose next tick is before an instant, the earliest first. */
async function* byNextTick(store: Store, untilAt: Instant): AsyncGenerator<StoredTrigger> {
  let after: TriggersPage['after']
  for (;;) {
    const page = await store.triggersPage({ order: 'next', limit: triggersPerPage, after, active: true })
    for (const stored of page) {
      if ((stored.nextAt ?? Infinity) > untilAt) return
      yield stored
    }
    const last = page.at(-1)
    if (last === undefined || page.length < triggersPerPage) return
    after = { name: last.trigger.name, nextAt: last.nextAt }
    await nextTurn()
  }
}

function minutesOf(
  instants: readonly (readonly [Instant, { readonly count: number }])[],
  { now, untilAt }: { now: Instant; untilAt: Instant },
): Upcoming['minutes'] {
  const first = now - (now % MINUTE_MS)
  const minutes = Array.from({ length: Math.ceil((untilAt - first) / MINUTE_MS) }, (_, i) => ({
    at: first + i * MINUTE_MS,
    count: 0,
  }))
  for (const [at, { count }] of instants) {
    const minute = minutes[Math.floor((at - first) / MINUTE_MS)]
    if (minute !== undefined) minute.count += count
  }
  return minutes
}
