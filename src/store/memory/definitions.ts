import type { Job, Queue } from '../../kernel/job/job.js'
import { jobsOf, type StoredTrigger, type TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { DefineAnswer, DefineConflict, DefineJobs, DefineTrigger, TriggerFilter } from '../port.js'
import { followLimits } from './concurrency-slots.js'
import { setNextTick, startFollowing, stopFollowing } from './next-tick.js'
import { cancelPending, toStored, writeTick } from './planning.js'
import { compareText, forgetDerived, type Mutable, type Tables, type TriggerRow } from './tables.js'

/** Writes the jobs and queues of a source; jobs that another source still defines stay. */
export function defineJobs(tables: Tables, request: DefineJobs): DefineConflict[] {
  const conflicts: DefineConflict[] = []
  if (areStored(tables, request)) return conflicts
  forgetDerived(tables)
  if (tables.touched !== undefined) tables.touched.definitions = true
  for (const queue of request.queues) tables.queues.set(queue.name, queue)
  for (const job of request.jobs) {
    const known = tables.jobs.get(job.name)
    if (known !== undefined && known.source !== request.source && known.job.ended !== true) {
      conflicts.push({ name: job.name, source: known.source })
      continue
    }
    tables.jobs.set(job.name, { job, source: request.source })
    tables.jobsRevision++
    followLimits(tables, job.name)
  }
  return conflicts
}

/** Whether the jobs and queues are stored already, exactly as the source defines them. */
function areStored(tables: Tables, { source, jobs, queues }: DefineJobs): boolean {
  const isJobStored = (job: Job): boolean => {
    const known = tables.jobs.get(job.name)
    return known?.source === source && JSON.stringify(known.job) === JSON.stringify(job)
  }
  const textOf = ({ concurrency, limit }: Queue): string => JSON.stringify([concurrency, limit])
  const isQueueStored = (queue: Queue): boolean => {
    const known = tables.queues.get(queue.name)
    return known !== undefined && textOf(known) === textOf(queue)
  }
  return jobs.every(isJobStored) && queues.every(isQueueStored)
}

/** Removes jobs that nothing uses; returns the names that are still in use. */
export function removeJobs(tables: Tables, names: readonly string[]): string[] {
  const used = new Set<string>()
  forgetDerived(tables)
  if (tables.touched !== undefined) tables.touched.definitions = true
  for (const row of tables.triggers.values())
    if (row.active) for (const job of jobsOf(row.trigger)) used.add(job)
  return names.filter((name) => {
    if (used.has(name) || (tables.runsByJob.get(name)?.unfinished ?? 0) > 0) return tables.jobs.has(name)
    if (tables.jobs.delete(name)) tables.jobsRevision++
    return false
  })
}

/** Writes or ends one trigger, together with the tick that closes its previous version. */
export function defineTrigger(tables: Tables, item: DefineTrigger): DefineAnswer {
  const row = tables.triggers.get(item.name)
  if (row?.active === true && row.source !== item.source) return { conflict: row.source }
  if ((row?.revision ?? 0) !== item.revision) return 'stale'
  if (row !== undefined) {
    const boundary = closeVersion(row, item)
    if (item.closing !== undefined) writeTick(tables, row, item.closing)
    if (item.trigger === undefined) endTrigger(tables, row, item)
    else redefine(tables, row, item, boundary ?? item.cursorAt)
  } else if (item.trigger !== undefined) {
    tables.triggers.set(item.name, newRow(tables, item))
  }
  return 'defined'
}

/** Returns triggers by name: all of them, those of one source, or the named ones. */
export function triggers(tables: Tables, filter: TriggerFilter): StoredTrigger[] {
  const { source, names, active } = filter
  const rows =
    names === undefined
      ? [...tables.triggers.values()]
      : [...new Set(names)].flatMap((name) => tables.triggers.get(name) ?? [])
  return rows
    .filter((row) => source === undefined || row.source === source)
    .filter((row) => active === undefined || row.active === active)
    .toSorted((a, b) => compareText(a.trigger.name, b.trigger.name))
    .map(toStored)
}

/** The sources of active triggers, in order. */
export function sources(tables: Tables): string[] {
  const active = [...tables.triggers.values()].filter((row) => row.active)
  return [...new Set(active.map((row) => row.source))].toSorted(compareText)
}

/** The fingerprint of each active trigger of a source. */
export function fingerprints(tables: Tables, source: string): Map<string, string> {
  const own = [...tables.triggers.values()].filter((row) => row.active && row.source === source)
  return new Map(own.map((row) => [row.trigger.name, row.fingerprint]))
}

/** Ends the current version and returns its end; a trigger that has already ended has no current version. */
function closeVersion(row: TriggerRow, item: DefineTrigger): Instant | undefined {
  const current = row.versions.at(-1)
  if (current === undefined || current.validUntil !== undefined) return undefined
  const closesNow = item.closing !== undefined || item.trigger === undefined
  // Without a closing tick nothing between the old cursor and the new one was planned, so no version covers it.
  current.validUntil = closesNow ? item.now : item.cursorAt
  return current.validUntil
}

function endTrigger(tables: Tables, row: TriggerRow, item: DefineTrigger): void {
  stopFollowing(tables, row)
  row.active = false
  row.revision++
  row.cursorAt = item.cursorAt
  row.keptAt = undefined
  setNextTick(tables, row, undefined)
  if (item.cancelPending) cancelPending(tables, item.name, item.now)
}

function redefine(tables: Tables, row: TriggerRow, item: DefineTrigger, validFrom: Instant): void {
  // Removed from the index under its old definition, added again under the new one.
  setNextTick(tables, row, undefined)
  stopFollowing(tables, row)
  row.trigger = item.trigger as NonNullable<typeof item.trigger>
  row.source = item.source
  row.fingerprint = item.fingerprint
  row.active = true
  row.version++
  row.revision++
  row.cursorAt = item.cursorAt
  if (item.closing !== undefined) row.keptAt = undefined
  row.versions.push(versionOf(row, item, validFrom))
  startFollowing(tables, row)
  setNextTick(tables, row, item.nextAt)
}

function newRow(tables: Tables, item: DefineTrigger): TriggerRow {
  const row: TriggerRow = {
    trigger: item.trigger as NonNullable<typeof item.trigger>,
    source: item.source,
    fingerprint: item.fingerprint,
    version: 1,
    revision: 1,
    definedAt: item.now,
    cursorAt: item.cursorAt,
    nextAt: undefined,
    chainRun: undefined,
    active: true,
    keptAt: undefined,
    versions: [],
  }
  row.versions.push(versionOf(row, item, item.cursorAt))
  startFollowing(tables, row)
  setNextTick(tables, row, item.nextAt)
  return row
}

function versionOf(row: TriggerRow, item: DefineTrigger, validFrom: Instant): Mutable<TriggerVersion> {
  return {
    name: item.name,
    version: row.version,
    trigger: row.trigger,
    validFrom,
    validUntil: undefined,
    tzdata: item.tzdata,
  }
}
