import type { ConcurrencySlot } from '../../kernel/run/run.js'
import { OrderedSet } from './sets/ordered-set.js'
import type { ReadyRuns } from './sets/ready-runs.js'
import { byUrgency, compareText, getOrAdd, type SlotRow, type RunRow, type Tables } from './tables.js'

/** Makes a pending run ready and takes its concurrency slots, or blocks it at the first limit that is full. The run must be in no index. */
export function admit(tables: Tables, row: RunRow): void {
  tables.touched?.runs.add(row)
  const full = row.slots.find((slot) => isFull(tables, row, slot))
  if (full !== undefined) {
    row.phase = 'blocked'
    row.waitsFor = full.key
    slotRowOf(tables, row, full).blocked.add(row)
    return
  }
  for (const slot of row.slots) slotRowOf(tables, row, slot).admitted++
  row.phase = 'ready'
  readyIndex(tables, row).add(row)
}

/** The index of a ready run. */
export function readyIndex(tables: Tables, row: RunRow): ReadyRuns<RunRow> {
  if (row.crashes > 0) return tables.readyCrashed
  return row.slots.length > 0 ? tables.readySlotted : tables.readyPlain
}

/** Returns the slots of a run that is no longer ready or running, and admits the runs that wait for them. */
export function releaseSlots(tables: Tables, row: RunRow): void {
  for (const { key } of row.slots) {
    const slot = tables.slots.get(key)
    if (slot !== undefined) slot.admitted--
  }
  admitWaiting(tables, keysOf(row))
}

/** Removes a blocked run from the limit it waits at; others may have waited behind it. */
export function stopWaiting(tables: Tables, row: RunRow): void {
  tables.slots.get(row.waitsFor ?? '')?.blocked.delete(row)
  row.waitsFor = undefined
  admitWaiting(tables, keysOf(row))
}

/** Applies a changed definition of a job to its blocked runs: the limit of the job first, then those of its keys. */
export function followLimits(tables: Tables, job: string): void {
  const used = [...tables.slots.values()].filter((slot) => slot.job === job && slot.admitted > 0)
  const keys = used.map((slot) => slot.key).filter((key) => key.startsWith(`key:${job}=`))
  admitWaiting(tables, [`job:${job}`, ...keys.toSorted(compareText)])
}

/**
 * Admits blocked runs in order of urgency while there are free slots; a run that meets another full limit waits
 * there. At the full limit of a job only the most urgent run of each key waits, on behalf of the others, so that a
 * long backlog is not moved back and forth; when it leaves, the others are examined again.
 */
function admitWaiting(tables: Tables, keys: readonly string[]): void {
  const open = keys.toReversed()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (let row = nextAt(tables, key); row !== undefined; row = nextAt(tables, key)) {
      tables.slots.get(key)?.blocked.delete(row)
      row.waitsFor = undefined
      admit(tables, row)
      const jobGate = `job:${row.job}`
      if (row.waitsFor === jobGate) break
      if (row.waitsFor !== undefined && key !== jobGate) continue
      for (const other of keysOf(row)) {
        if (other !== key && other !== row.waitsFor && !open.includes(other)) open.push(other)
      }
    }
    forgetEmpty(tables, key)
  }
}

/** The most urgent run that is blocked at a limit with free slots. */
function nextAt(tables: Tables, key: string): RunRow | undefined {
  const slot = tables.slots.get(key)
  return slot !== undefined && slot.admitted < slot.limit() ? slot.blocked.first : undefined
}

/** Adds a restored run to the limits that its phase implies: it takes slots, or waits at one limit. */
export function restoreSlots(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') {
    const slot = row.slots.find(({ key }) => key === row.waitsFor)
    if (slot !== undefined) slotRowOf(tables, row, slot).blocked.add(row)
    return
  }
  for (const slot of row.slots) slotRowOf(tables, row, slot).admitted++
  if (row.phase === 'ready') readyIndex(tables, row).add(row)
}

/** Removes a run from its limits without admitting others, because another row will replace it. */
export function leaveSlots(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') tables.slots.get(row.waitsFor ?? '')?.blocked.delete(row)
  if (row.phase === 'ready') readyIndex(tables, row).delete(row)
  for (const { key } of row.slots) {
    const slot = tables.slots.get(key)
    if (slot !== undefined && row.phase !== 'blocked') slot.admitted--
    forgetEmpty(tables, key)
  }
}

function keysOf(row: RunRow): string[] {
  return row.slots.map((slot) => slot.key)
}

function isFull(tables: Tables, row: RunRow, slot: ConcurrencySlot): boolean {
  const known = tables.slots.get(slot.key)
  if (known === undefined) return limitOf(tables, row.job, slot)() <= 0
  return known.admitted >= known.limit()
}

function slotRowOf(tables: Tables, row: RunRow, slot: ConcurrencySlot): SlotRow {
  const { job } = row
  return getOrAdd(tables.slots, slot.key, () => ({
    key: slot.key,
    limit: limitOf(tables, job, slot),
    job,
    admitted: 0,
    blocked: new OrderedSet(byUrgency),
  }))
}

/** The limits of a job are read from its definition each time, so that a change takes effect immediately. */
function limitOf(tables: Tables, job: string, slot: ConcurrencySlot): () => number {
  if (slot.key.startsWith('trigger:')) return () => slot.limit
  if (slot.key === `job:${job}`) {
    return () => {
      const stored = tables.jobs.get(job)
      return stored === undefined ? slot.limit : (stored.job.concurrency ?? Infinity)
    }
  }
  if (slot.key.startsWith(`key:${job}=`))
    return () => tables.jobs.get(job)?.job.concurrencyPerKey ?? slot.limit
  return () => slot.limit
}

function forgetEmpty(tables: Tables, key: string): void {
  const slot = tables.slots.get(key)
  if (slot !== undefined && slot.admitted === 0 && slot.blocked.size === 0) tables.slots.delete(key)
}
