import { countedLabels, debouncedRunAt } from '../../../kernel/run/burst.js'
import type { NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { copyJson } from '../json-copy.js'
import { uniqueSlot } from '../run-moves.js'
import type { RunRow, Tables } from '../tables.js'

/** The existing run for an enqueue with debounce or throttle, updated by the rule; undefined if there is none. */
export function applyBurst(tables: Tables, run: NewRun, now: Instant): RunRow | undefined {
  const { burst } = run
  if (burst === undefined) return undefined
  const holders = [...(tables.unique.get(uniqueSlot(run.job, run.uniqueKey ?? '')) ?? [])]
  const ordered = holders.toSorted((one, other) => one.seq - other.seq)
  if (burst.kind === 'throttle') {
    const first = ordered.find(({ uniqueUntil }) => (uniqueUntil ?? now) > now)
    if (first === undefined) return undefined
    first.labels = countedLabels('throttle', first.labels)
    tables.touched?.runs.add(first)
    return first
  }
  const waiting = ordered.findLast(({ phase, attempt }) => phase === 'delayed' && attempt === 0)
  if (waiting === undefined) return undefined
  tables.delayed.delete(waiting)
  waiting.payload = copyJson(run.payload)
  waiting.runAt = debouncedRunAt(burst, { now, sinceAt: waiting.createdAt })
  waiting.priority = run.priority
  waiting.partition = run.partition
  waiting.slots = run.slots
  waiting.endEffect = run.endEffect
  waiting.labels = countedLabels('debounce', waiting.labels)
  tables.delayed.add(waiting)
  tables.touched?.runs.add(waiting)
  return waiting
}
