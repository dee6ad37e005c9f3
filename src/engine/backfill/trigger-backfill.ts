import { backfillRun, instantOfItem, type Backfill } from '../../kernel/backfill/backfill.js'
import { endEffectFor, newTriggerRun } from '../../kernel/identity/occurrence.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import { parseInstant } from '../../time/instant.js'
import { findJob, findTrigger } from '../sync/find-definition.js'
import type { BackfillKind } from './backfill-kind.js'

/** Backfills of triggers: an item is a due instant and the version that decides about it. */
export const triggerBackfill: BackfillKind = {
  of: 'trigger',
  runs: runsOf,
  progress: progressOf,
}

/** Runs as the trigger would have created them under that version, with the current definition of the job. */
async function runsOf(
  store: Store,
  backfill: Backfill,
  { items, first }: { readonly items: readonly string[]; readonly first: number },
): Promise<readonly NewRun[]> {
  const stored = await findTrigger(store, backfill.trigger ?? '')
  const triggers = new Map(
    (await store.versions(stored.trigger.name)).map((one) => [one.version, one.trigger]),
  )
  const jobDefinition = await findJob(store, stored.trigger.job)
  return items.map((item, i) => {
    const { at, version } = instantOfItem(item)
    const trigger = triggers.get(version) ?? stored.trigger
    const due = { ...stored, trigger, version, jobDefinition, holds: [], unfinished: [] }
    const { endEffect: _, deadlines: __, ...base } = newTriggerRun(due, at)
    // A repeated run does not count for the SLA.
    const { asset } = jobDefinition
    return { ...backfillRun(base, backfill, { item, index: first + i }), ...endEffectFor({ asset }) }
  })
}

/** Counts its runs; pruned runs count as done. */
async function progressOf(store: Store, backfill: Backfill): Promise<{ done: number; failed: number }> {
  const { id, started } = backfill
  if (started === 0) return { done: 0, failed: 0 }
  const [sinceAt, untilAt] = [backfill.first, backfill.last].map(parseInstant).toSorted((a, b) => a - b)
  const trigger = backfill.trigger ?? ''
  const own = { trigger, origin: 'backfill', labels: { backfill: id }, sinceAt, untilAt } as const
  const { count: open } = await store.countRuns({ ...own, state: ['pending', 'running'] }, started)
  const { count: failed } = await store.countRuns({ ...own, state: ['failed', 'cancelled'] }, started)
  return { done: started - open - failed, failed }
}
