import type { Gate } from '../../kernel/run/run.js'
import { OrderedSet } from './ordered-set.js'
import type { ReadyRuns } from './ready-runs.js'
import { byUrgency, compareText, getOrAdd, type GateRow, type RunRow, type Tables } from './tables.js'

/** Makes a pending run ready and takes its concurrency slots, or blocks it at the first limit that is full. The run must be in no index. */
export function admit(tables: Tables, row: RunRow): void {
  tables.touched?.runs.add(row)
  const full = row.gates.find((gate) => isFull(tables, row, gate))
  if (full !== undefined) {
    row.phase = 'blocked'
    row.waitsFor = full.key
    gateOf(tables, row, full).blocked.add(row)
    return
  }
  for (const gate of row.gates) gateOf(tables, row, gate).admitted++
  row.phase = 'ready'
  readyIndex(tables, row).add(row)
}

/** The index of a ready run: prefetching a run without limits and without crashes delays no other run. */
export function readyIndex(tables: Tables, row: RunRow): ReadyRuns<RunRow> {
  return row.gates.length === 0 && row.crashes === 0 ? tables.readyPrefetchable : tables.readyOther
}

/** Returns the slots of a run that is no longer ready or running, and admits the runs that wait for them. */
export function releaseGates(tables: Tables, row: RunRow): void {
  for (const { key } of row.gates) {
    const gate = tables.gates.get(key)
    if (gate !== undefined) gate.admitted--
  }
  admitWaiting(tables, keysOf(row))
}

/** Removes a blocked run from the limit it waits at; others may have waited behind it. */
export function stopWaiting(tables: Tables, row: RunRow): void {
  tables.gates.get(row.waitsFor ?? '')?.blocked.delete(row)
  row.waitsFor = undefined
  admitWaiting(tables, keysOf(row))
}

/** Applies a changed definition of a job to its blocked runs: the limit of the job first, then those of its keys. */
export function followLimits(tables: Tables, job: string): void {
  const used = [...tables.gates.values()].filter((gate) => gate.job === job && gate.admitted > 0)
  const keys = used.map((gate) => gate.key).filter((key) => key.startsWith(`key:${job}=`))
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
      tables.gates.get(key)?.blocked.delete(row)
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
  const gate = tables.gates.get(key)
  return gate !== undefined && gate.admitted < gate.limit() ? gate.blocked.first : undefined
}

/** Adds a restored run to the limits that its phase implies: it takes slots, or waits at one limit. */
export function restoreSlots(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') {
    const gate = row.gates.find(({ key }) => key === row.waitsFor)
    if (gate !== undefined) gateOf(tables, row, gate).blocked.add(row)
    return
  }
  for (const gate of row.gates) gateOf(tables, row, gate).admitted++
  if (row.phase === 'ready') readyIndex(tables, row).add(row)
}

/** Removes a run from its limits without admitting others, because another row will replace it. */
export function leaveGates(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') tables.gates.get(row.waitsFor ?? '')?.blocked.delete(row)
  if (row.phase === 'ready') readyIndex(tables, row).delete(row)
  for (const { key } of row.gates) {
    const gate = tables.gates.get(key)
    if (gate !== undefined && row.phase !== 'blocked') gate.admitted--
    forgetEmpty(tables, key)
  }
}

function keysOf(row: RunRow): string[] {
  return row.gates.map((gate) => gate.key)
}

function isFull(tables: Tables, row: RunRow, gate: Gate): boolean {
  const known = tables.gates.get(gate.key)
  if (known === undefined) return limitOf(tables, row.job, gate)() <= 0
  return known.admitted >= known.limit()
}

function gateOf(tables: Tables, row: RunRow, gate: Gate): GateRow {
  const { job } = row
  return getOrAdd(tables.gates, gate.key, () => ({
    key: gate.key,
    limit: limitOf(tables, job, gate),
    job,
    admitted: 0,
    blocked: new OrderedSet(byUrgency),
  }))
}

/** The limits of a job are read from its definition each time, so that a change takes effect immediately. */
function limitOf(tables: Tables, job: string, gate: Gate): () => number {
  if (gate.key === `job:${job}`) {
    return () => {
      const stored = tables.jobs.get(job)
      return stored === undefined ? gate.limit : (stored.job.concurrency ?? Infinity)
    }
  }
  if (gate.key.startsWith(`key:${job}=`))
    return () => tables.jobs.get(job)?.job.concurrencyPerKey ?? gate.limit
  return () => gate.limit
}

function forgetEmpty(tables: Tables, key: string): void {
  const gate = tables.gates.get(key)
  if (gate !== undefined && gate.admitted === 0 && gate.blocked.size === 0) tables.gates.delete(key)
}
