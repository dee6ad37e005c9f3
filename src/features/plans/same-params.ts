/**
 * An id stands for one publication. If a plan has an entry whose run was enqueued with other params, one of the two
 * would be lost silently. Such a plan is refused: in the same pass, in a later one and from another plan, whatever state
 * the run has.
 */
import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { planRunId } from '../../kernel/identity/occurrence.js'
import { isMap } from '../../kernel/definition/read-value.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { PlanEntry } from './definition.js'
import type { Store } from '../../store/port.js'

/** What identifies an entry. */
export type EntryKey = Pick<PlanEntry, 'jobId' | 'runId' | 'dueAt'>

/** Whether params are the same, in any order of keys; no params equal an empty map. */
export function hasSameParams(params: Json | undefined, payload: Json | undefined): boolean {
  const enqueued = isMap(payload) ? payload['params'] : undefined
  return canonicalJson(params ?? {}) === canonicalJson(enqueued ?? {})
}

/** Whether the instant of an entry has been recorded: as a run, or with the reason why there is none. */
export function isRecorded(stored: StoredTrigger | undefined, { dueAt }: EntryKey): boolean {
  return stored !== undefined && stored.cursorAt >= dueAt
}

/** Whether a recorded entry became a run, even if the run was removed since; a missed entry did not. */
export async function wasEnqueued(store: Store, entry: EntryKey, trigger: string): Promise<boolean> {
  const { jobId, dueAt } = entry
  if ((await store.run(planRunId(jobId, dueAt))) !== undefined) return true
  const ranges = await store.ledger({ trigger, fromAt: dueAt, untilAt: dueAt })
  return ranges.length === 0 || ranges.some(({ reason }) => reason === 'pruned')
}

/** Whether an entry was enqueued with other params under its trigger. */
export async function wasChanged(
  store: Store,
  entry: EntryKey & { readonly params?: Json | undefined },
  stored: StoredTrigger | undefined,
): Promise<boolean> {
  if (stored === undefined || !isRecorded(stored, entry)) return false
  const { name, payload } = stored.trigger
  return !hasSameParams(entry.params, payload) && (await wasEnqueued(store, entry, name))
}

/** Throws one error with all entries whose params differ from the enqueued ones, if there are any. */
export function refuseOtherParams(what: string, entries: readonly EntryKey[]): void {
  if (entries.length === 0) return
  const faults = entries.map(({ runId }) => ({
    path: runId,
    message: 'it was enqueued with other params',
    allowed: 'the params it was enqueued with, or another publish_at, pipeline_path or run_id_prefix',
  }))
  const lines = faults.map(({ path, message, allowed }) => `  ${path}: ${message} (allowed: ${allowed})`)
  const message = `${what} differs from what was enqueued; nothing was changed:\n${lines.join('\n')}`
  throw new RotaError('DEFINITION_CONFLICT', message, { faults })
}
