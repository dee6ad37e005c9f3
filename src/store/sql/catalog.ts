import { claimingTargets, holdsAt, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { Instant } from '../../time/instant.js'

/** What every claim needs of the definitions: read once and kept until a revision says that it changed. */
export interface Catalog {
  readonly jobsRevision: number
  readonly limitsRevision: number
  readonly jobs: ReadonlyMap<string, Job>
  /** The queues that have a limit. */
  readonly queueLimits: ReadonlyMap<string, number>
  /** The holds that keep runs from being claimed, past and open. */
  readonly holds: readonly Hold[]
}

/** A job's definition; its defaults for a run whose job nobody defined. */
export function jobOf(catalog: Catalog, name: string): Job {
  return catalog.jobs.get(name) ?? { ...jobDefaults, name }
}

/** The queue of a job, if it has a limit. */
export function limitedQueueOf(catalog: Catalog, job: string): string | undefined {
  if (catalog.queueLimits.size === 0) return undefined
  const { queue } = jobOf(catalog, job)
  return catalog.queueLimits.has(queue) ? queue : undefined
}

/** Whether a hold keeps every run from being claimed. */
export function isClaimingHeld(catalog: Catalog, now: Instant): boolean {
  return catalog.holds.some((hold) => claimingTargets.includes(hold.target) && holdsAt(hold, now))
}

/** Whether a hold keeps the runs of a queue from being claimed. */
export function isQueueHeld(catalog: Catalog, queue: string, now: Instant): boolean {
  if (catalog.holds.length === 0) return false
  const target: HoldTarget = `queue:${queue}`
  return catalog.holds.some((hold) => hold.target === target && holdsAt(hold, now))
}
