import { sync, type SyncContext } from '../../engine/sync/sync.js'
import type { TriggerKinds } from '../../engine/trigger-kind.js'
import type { Queue } from '../../kernel/job/job.js'
import { isPolled, type StoredTrigger } from '../../kernel/trigger/trigger.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { restoreTrigger } from '../../store/memory/restore.js'
import { emptyTables, type Tables } from '../../store/memory/tables.js'
import type { Store, StoredJob } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { OwnDefinitions } from '../definitions/own-definitions.js'
import { loadEndEffects } from '../features.js'

/** The definitions of a store, as data for another thread. */
export interface DefinedInStore {
  readonly queues: readonly Queue[]
  readonly jobs: readonly StoredJob[]
  readonly triggers: readonly StoredTrigger[]
}

/** Where the definitions of a simulation come from. */
export interface Definitions {
  /** The current definitions of the store; undefined if there is no store yet. */
  readonly stored: DefinedInStore | undefined
  /** The definitions of the app itself, which replace those of the store, as at a start. */
  readonly own?: { readonly definitions: OwnDefinitions; readonly directory: string } | undefined
  readonly kinds: TriggerKinds
  readonly at: Instant
}

/** A trigger that cannot be simulated. */
export interface LeftOut {
  readonly trigger: string
  readonly why: string
}

/** Reads the definitions of a store. */
export async function definedIn(store: Store): Promise<DefinedInStore> {
  return {
    // Without the state of the queue.
    queues: (await store.queues()).map(({ name, concurrency, limit }) => ({ name, concurrency, limit })),
    jobs: await store.jobs(),
    triggers: await store.triggers({ active: true }),
  }
}

/** Tables in memory with these definitions and nothing else. */
export async function virtualTables(
  definitions: Definitions,
): Promise<{ readonly tables: Tables; readonly leftOut: readonly LeftOut[] }> {
  const { stored, own, kinds, at: now } = definitions
  const tables = emptyTables(await loadEndEffects())
  const virtual = openMemoryStore(tables)
  if (stored !== undefined) await copyDefinitions(stored, tables, { kinds, now })
  const roles = { scheduler: true, worker: false }
  // As at a start: unchanged triggers continue.
  if (own !== undefined && own.definitions.digest !== '') {
    const { directory } = own
    await own.definitions.write(virtual, { directory, roles, now, beforeEnding: async () => undefined })
  }
  const polled = (await virtual.triggers({ active: true })).filter(({ trigger }) =>
    isPolled(trigger.schedule),
  )
  const leftOut = polled.map(({ trigger }) => ({
    trigger: trigger.name,
    why: 'a sensor waits for external events',
  }))
  return { tables, leftOut }
}

/** Copies the definitions of a store, each trigger with its cursor. */
async function copyDefinitions(
  { queues, jobs, triggers }: DefinedInStore,
  tables: Tables,
  context: SyncContext,
): Promise<void> {
  const to = openMemoryStore(tables)
  await to.defineJobs({ source: 'queues', jobs: [], queues, now: context.now })
  for (const name of new Set([...jobs, ...triggers].map(({ source }) => source))) {
    const source = {
      name,
      jobs: jobs.filter((one) => one.source === name).map(({ job }) => job),
      queues: [],
      triggers: triggers.filter((one) => one.source === name).map(({ trigger }) => trigger),
    }
    await sync(to, source, context)
  }
  for (const { trigger, cursorAt, nextAt } of triggers) {
    const row = tables.triggers.get(trigger.name)
    if (row !== undefined) restoreTrigger(tables, { ...row, cursorAt, nextAt })
  }
}
