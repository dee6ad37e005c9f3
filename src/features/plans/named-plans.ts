/**
 * Which app names which plan. A plan is a source of its own, and several apps on one store may name the same plan. Each
 * app therefore writes a state entry for each of its plans. An app that no longer names a plan ends the plan's entries
 * only if no other app names it, and if `rota schedule` has never passed over it.
 *
 * A crash in between ends nothing too early: the state entry is written before the plan's entries, and removed last.
 */
import { end } from '../../engine/sync/sync.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { passName } from './source.js'
import type { PlanSource } from './triggers.js'
import { timedKinds } from '../../engine/timed/kinds.js'

/** Records which plans an app names, and ends the entries of plans that it named before; returns the triggers that ended. */
export async function notePlans(
  store: Store,
  app: { readonly source: string; readonly plans: readonly PlanSource[]; readonly now: Instant },
): Promise<readonly string[]> {
  const { source: item, plans, now } = app
  const notes = await allStateEntries(store)
  const before = namedBy(item, notes)
  const named = new Set(plans.map((plan) => plan.name))
  const added = [...named].filter((name) => !before.has(name))
  const vanished = [...before].filter((name) => !named.has(name))
  await write(store, { names: added, item, value: true, now })
  const ended: string[] = []
  for (const name of vanished) {
    const isShared = notes.some((note) => note.name === name && note.item !== item)
    if (!isShared) ended.push(...(await endPlan(store, { name, plans, now })))
  }
  await write(store, { names: vanished, item, value: undefined, now })
  return ended
}

/** The plans that an app named before and no longer names. */
export async function vanishedPlans(
  store: Store,
  { source, plans }: { readonly source: string; readonly plans: readonly PlanSource[] },
): Promise<readonly string[]> {
  const named = new Set(plans.map((plan) => plan.name))
  return [...namedBy(source, await allStateEntries(store))].filter((name) => !named.has(name))
}

function namedBy(item: string, notes: readonly StateEntry[]): ReadonlySet<string> {
  return new Set(notes.filter((note) => note.item === item).map((note) => note.name))
}

const page = 1000

async function allStateEntries(store: Store): Promise<readonly StateEntry[]> {
  const found: StateEntry[] = []
  for (;;) {
    const notes = await store.stateEntries({ kind: 'plan', after: found.at(-1), limit: page })
    found.push(...notes)
    if (notes.length < page) return found
  }
}

async function write(
  store: Store,
  change: {
    readonly names: readonly string[]
    readonly item: string
    readonly value: true | undefined
    readonly now: Instant
  },
): Promise<void> {
  const { names, item, value, now } = change
  if (names.length === 0) return
  // Without an expected revision: a second process of the same app writes the same.
  await store.changeState({ changes: names.map((name) => ({ kind: 'plan', name, item, value })), now })
}

/** Ends the entries of a plan. Entries that another plan of the app contains only change their owner. */
async function endPlan(
  store: Store,
  {
    name,
    plans,
    now,
  }: { readonly name: string; readonly plans: readonly PlanSource[]; readonly now: Instant },
): Promise<readonly string[]> {
  const isPassed = (await store.triggers({ names: [passName(name)] })).length > 0
  if (isPassed) return []
  const open = [...(await store.fingerprints(name)).keys()]
  const elsewhere = new Set(plans.flatMap((plan) => plan.triggers.map((trigger) => trigger.name)))
  const moved = open.filter((trigger) => elsewhere.has(trigger))
  const gone = open.filter((trigger) => !elsewhere.has(trigger))
  if (moved.length > 0) await end(store, { kinds: timedKinds, source: name, names: moved, now })
  if (gone.length > 0)
    await end(store, { kinds: timedKinds, source: name, names: gone, now, cancelPending: true })
  return gone
}
