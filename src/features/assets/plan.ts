/**
 * How an asset follows its dependencies. Every partition that is done leaves an arrival for each trigger that follows
 * its asset. A tick reads arrivals and checks the partitions that depend on them. It makes a run for each partition that
 * has everything it needs and is missing or older than that. The same transaction removes the arrivals. A partition that
 * is not ready need not be remembered: the arrival of its last dependency leads to another check.
 */
import type { Instant } from '../../time/instant.js'
import { afterArrival, type StoredArrival } from './arrival.js'
import { partitionOfLabel } from '../../kernel/partition/asset.js'
import type { PartitionRecord } from './end-effect.js'
import { fingerprintOf, runIdOf, type RunId } from '../../kernel/identity/identity.js'
import { endEffectFor, slotsFor } from '../../kernel/identity/occurrence.js'
import { runDeadlines } from '../../kernel/sla/deadline.js'
import type { NewRun } from '../../kernel/run/run.js'
import { openPause, type Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'

/** What the tick of a trigger that follows assets needs. */
export interface UpstreamFacts {
  readonly arrivals: readonly StoredArrival[]
  /** Whether there are arrivals beyond these. */
  readonly hasMore: boolean
  /** The partitions that they affect. */
  readonly candidates: readonly Candidate[]
  /** The facts about these partitions and those they need, by `partitionKey`. */
  readonly partitions: ReadonlyMap<string, PartitionRecord>
  /** The labels with a pending run of the trigger: it will read the new data. */
  readonly waiting: ReadonlySet<string>
}

/** A partition that may have to be produced. */
export interface Candidate {
  readonly label: string
  /** The partitions that must be done first. */
  readonly needs: readonly { readonly asset: string; readonly label: string }[]
  /** Arrivals from assets with the map `any`. */
  readonly reasons: readonly { readonly run: RunId; readonly at: Instant }[]
  /** Whether it is produced only if it is missing: an arrival that affects an unlimited number of partitions does not produce them all again. */
  readonly isOnlyIfMissing: boolean
  /** Whether its time has begun, or something other than an earlier partition of the same asset affects it. */
  readonly isInTime: boolean
}

/** One text for an asset and a label. */
export function partitionKey(asset: string, label: string): string {
  return JSON.stringify([asset, label])
}

/** Decides which partitions are produced after these arrivals. Pure: two schedulers plan the same. */
export function planUpstream(due: DueTrigger, facts: UpstreamFacts, now: Instant): Tick {
  const tick = {
    trigger: due.trigger.name,
    revision: due.revision,
    at: now,
    cursorAt: Math.max(due.cursorAt, now),
    chainRun: undefined,
    ranges: [],
    supersede: undefined,
  }
  const pause = openPause(due, now)
  if (pause !== undefined) return { ...tick, nextAt: pause.untilAt, runs: [] }
  const stateChanges = facts.arrivals.map((arrival) => afterArrival(due.trigger.name, arrival))
  const isLeft = facts.hasMore || facts.arrivals.some(({ next }) => next !== undefined)
  const candidates = due.trigger.enabled ? facts.candidates : []
  return {
    ...tick,
    nextAt: isLeft ? now : undefined,
    runs: candidates.flatMap((candidate) => runOf(due, candidate, facts) ?? []),
    stateChanges,
    takesArrivals: true,
  }
}

/** The run of a partition; undefined if something it needs is missing, or if it has already read everything. */
function runOf(due: DueTrigger, candidate: Candidate, facts: UpstreamFacts): NewRun | undefined {
  const { label, isInTime } = candidate
  if (!isInTime || facts.waiting.has(label)) return undefined
  const set = upstreamSet(candidate, facts)
  if (set === undefined) return undefined
  const id = runIdOf({ at: set.newestAt, parts: ['upstream', due.trigger.name, label, set.digest] })
  if (!isWanted({ due, candidate, facts }, { id, newestAt: set.newestAt })) return undefined
  const { trigger, jobDefinition: job } = due
  const partition = partitionOfLabel(label)
  return {
    id,
    job: job.name,
    origin: 'upstream',
    trigger: trigger.name,
    version: due.version,
    dueAt: set.newestAt,
    runAt: set.newestAt,
    priority: trigger.priority ?? job.priority,
    partition,
    payload: trigger.payload,
    slots: slotsFor({ job, trigger, partition }),
    ...endEffectFor(job),
    ...runDeadlines({ job }, set.newestAt),
  }
}

/** The runs that produced what a partition needs; undefined if one is missing. */
function upstreamSet(
  { needs, reasons }: Candidate,
  { partitions }: UpstreamFacts,
): { readonly digest: string; readonly newestAt: Instant } | undefined {
  const runs: string[] = []
  let newestAt = -Infinity
  for (const { asset, label } of needs) {
    const made = partitions.get(partitionKey(asset, label))
    if (made?.doneRun == null || made.doneAt === null) return undefined
    runs.push(partitionKey(asset, label), made.doneRun)
    newestAt = Math.max(newestAt, made.doneAt)
  }
  for (const { run, at } of reasons) {
    runs.push(run)
    newestAt = Math.max(newestAt, at)
  }
  return runs.length === 0 ? undefined : { digest: fingerprintOf(runs.join('\n')), newestAt }
}

/** Whether a partition was never produced, or was produced before the newest data that it needs. */
function isWanted(
  { due, candidate, facts }: { due: DueTrigger; candidate: Candidate; facts: UpstreamFacts },
  { id, newestAt }: { id: RunId; newestAt: Instant },
): boolean {
  const own = facts.partitions.get(partitionKey(due.jobDefinition.name, candidate.label))
  if (own?.doneRun == null || own.readAt === null) return true
  if (candidate.isOnlyIfMissing) return false
  // Within the same millisecond, only a run that was planned for exactly this set has certainly read it.
  return own.readAt < newestAt || (own.readAt === newestAt && own.doneRun !== id)
}
