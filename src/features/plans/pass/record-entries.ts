import { definePipelineJob } from '../../../engine/sync/pipeline-job.js'
import { define } from '../../../engine/sync/sync.js'
import { planTriggerName } from '../../../kernel/identity/occurrence.js'
import { pipelineJob } from '../../../kernel/job/pipeline.js'
import { planTick, type Tick } from '../../../kernel/tick/tick.js'
import type { PlanEntry } from '../definition.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'
import { planTrigger } from '../triggers.js'
import { timedKinds } from '../../../engine/timed/kinds.js'

/** Records entries of a plan as runs; returns those that no other process recorded first. */
export async function recordEntries(
  store: Store,
  entries: readonly PlanEntry[],
  request: RecordRequest,
): Promise<readonly PlanEntry[]> {
  const { source, now } = request
  await definePipelineJob(store, now)
  const names = entries.map(({ jobId }) => planTriggerName(jobId))
  const active = await store.triggers({ names, active: true })
  const taken = new Set(active.map((one) => one.trigger.name))
  const missing = entries.filter(({ jobId }) => !taken.has(planTriggerName(jobId)))
  await define(store, {
    kinds: timedKinds,
    source,
    triggers: missing.map((entry) => planTrigger(entry, pipelineJob)),
    now,
  })
  const ticks = await ticksOf(store, entries, request)
  const answers = await store.tick(ticks.map(({ tick }) => tick))
  return ticks.filter((_, index) => answers[index] === 'ticked').map(({ entry }) => entry)
}

/** Whose entries they are, and how late they may be. */
export interface RecordRequest {
  readonly source: string
  readonly now: Instant
  /** Default: no limit. */
  readonly lookBackMs?: number | undefined
}

/** The tick of each entry, up to its own due time, which may be in the future. */
async function ticksOf(
  store: Store,
  entries: readonly PlanEntry[],
  { now, lookBackMs = Infinity }: RecordRequest,
): Promise<readonly { entry: PlanEntry; tick: Tick }[]> {
  const names = entries.map(({ jobId }) => planTriggerName(jobId))
  const due = new Map((await store.dueByName({ names, now })).map((one) => [one.trigger.name, one]))
  const ticks: { entry: PlanEntry; tick: Tick }[] = []
  for (const entry of entries) {
    const { dueAt } = entry
    const one = due.get(planTriggerName(entry.jobId))
    if (one === undefined || one.cursorAt >= dueAt) continue
    // A run from the file of another program has the same id and stays as it is. Holds do not apply here: there is no
    // pass while planning is held, and an entry can be enqueued by hand at any time.
    const free = { ...one, holds: [] }
    ticks.push({ entry, tick: planTick(free, now, { untilAt: Math.max(now, dueAt), lookBackMs }) })
  }
  return ticks
}
