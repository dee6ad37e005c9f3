/**
 * Which app names which plan. A plan is a source of its own, and several apps on one store may name the same plan. Each
 * app therefore writes a state entry for each of its plans. An app that no longer names a plan ends the plan's entries
 * only if no other app names it, and if `rota schedule` has never passed over it.
 *
 * A crash in between ends nothing too early: the state entry is written before the plan's entries, and removed last.
 */
import type { ReadDefinitionFiles } from '../../engine/sync/definition-files.js'
import { auditedSync } from '../../engine/sync/audit-sync.js'
import { end } from '../../engine/sync/sync.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { passName } from './source.js'
import { planSources, syncPlans, type PlanSource } from './triggers.js'
import { timedKinds } from '../../engine/timed/kinds.js'

/** Reads the plans that an app names. */
export const readPlanFiles: ReadDefinitionFiles = async ({ paths, source, directory, jobs, now: readAt }) => {
  const plans = await planSources(paths, { directory, jobs, now: readAt })
  const named = new Set(plans.map((plan) => plan.name))
  return {
    pipelines: plans.flatMap((plan) => plan.pipelines),
    vanished: async (store) =>
      [...namedBy(source, await allStateEntries(store))].filter((name) => !named.has(name)),
    sync: async (store, now) => {
      const ended = await notePlans(store, { item: source, plans, named, now })
      return [{ defined: [], changed: [], ended, unchanged: 0 }, ...(await syncPlans(store, plans, now))]
    },
  }
}

/** Records which plans an app names, and ends the entries of plans that it named before; returns the triggers that ended. */
async function notePlans(
  store: Store,
  app: {
    readonly item: string
    readonly plans: readonly PlanSource[]
    readonly named: ReadonlySet<string>
    readonly now: Instant
  },
): Promise<readonly string[]> {
  const { item, plans, named, now } = app
  const notes = await allStateEntries(store)
  const before = namedBy(item, notes)
  const vanished = [...before].filter((name) => !named.has(name))
  // Without an expected revision: a second process of the same app writes the same.
  const write = async (names: readonly string[], value: true | undefined): Promise<void> => {
    const changes = names.map((name) => ({ kind: 'plan' as const, name, item, value }))
    if (changes.length > 0) await store.changeState({ changes, now })
  }
  await write(
    [...named].filter((name) => !before.has(name)),
    true,
  )
  const ended: string[] = []
  for (const name of vanished) {
    const isShared = notes.some((note) => note.name === name && note.item !== item)
    if (!isShared) ended.push(...(await endPlan(store, { name, app: item, plans, now })))
  }
  await write(vanished, undefined)
  return ended
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

/** Ends the entries of a plan. Entries that another plan of the app contains only change their owner. */
async function endPlan(
  store: Store,
  plan: {
    readonly name: string
    /** The source of the app that no longer names it, for the audit. */
    readonly app: string
    readonly plans: readonly PlanSource[]
    readonly now: Instant
  },
): Promise<readonly string[]> {
  const { name: source, app, plans, now } = plan
  const isPassed = (await store.triggers({ names: [passName(source)] })).length > 0
  if (isPassed) return []
  const open = [...(await store.fingerprints(source)).keys()]
  const elsewhere = new Set(plans.flatMap(({ triggers }) => triggers.map((trigger) => trigger.name)))
  const moved = open.filter((trigger) => elsewhere.has(trigger))
  const gone = open.filter((trigger) => !elsewhere.has(trigger))
  if (moved.length > 0) await end(store, { kinds: timedKinds, source, names: moved, now })
  const audited = auditedSync(store, { source: app, jobs: [], triggers: [], vanished: gone, now })
  if (gone.length > 0)
    await end(audited, { kinds: timedKinds, source, names: gone, now, cancelPending: true })
  return gone
}
