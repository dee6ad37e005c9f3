import type { Gate } from '../../kernel/run/run.js'
import { OrderedSet } from './ordered-set.js'
import type { ReadyRuns } from './ready-runs.js'
import { byUrgency, compareText, type GateRow, type RunRow, type Tables } from './tables.js'

/** Makes a pending run that is in no index ready if all its gates have room, and takes them; else it waits at the first full one. */
export function admitAtGates(tables: Tables, row: RunRow): void {
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
  readyLine(tables, row).add(row)
}

/** Where a run stands while it is ready: a plain one keeps nobody waiting if it is held before its turn. */
export function readyLine(tables: Tables, row: RunRow): ReadyRuns<RunRow> {
  return row.gates.length === 0 && row.crashes === 0 ? tables.readyPlain : tables.readyOther
}

/** Gives back the gates of a run that has left ready and running, and admits who waits there. */
export function releaseGates(tables: Tables, row: RunRow): void {
  for (const { key } of row.gates) {
    const gate = tables.gates.get(key)
    if (gate !== undefined) gate.admitted--
  }
  admitWaiting(tables, keysOf(row))
}

/** Takes a blocked run out of the gate it waits at; it may have stood there for others. */
export function stopWaiting(tables: Tables, row: RunRow): void {
  tables.gates.get(row.waitsFor ?? '')?.blocked.delete(row)
  row.waitsFor = undefined
  admitWaiting(tables, keysOf(row))
}

/** Lets waiting runs follow a changed definition of their job: its own limit first, then those of its keys. */
export function followLimits(tables: Tables, job: string): void {
  const used = [...tables.gates.values()].filter((gate) => gate.job === job && gate.admitted > 0)
  const keys = used.map((gate) => gate.key).filter((key) => key.startsWith(`key:${job}=`))
  admitWaiting(tables, [`job:${job}`, ...keys.toSorted(compareText)])
}

/**
 * Admits those who wait at gates, the most urgent first, while there is room; one that meets another full gate waits
 * there. At the full gate of their job only the most urgent one of a key waits and stands for the rest, so that a
 * long backlog is not moved to and fro; when it leaves that gate, the others are looked at again.
 */
function admitWaiting(tables: Tables, keys: readonly string[]): void {
  const open = keys.toReversed()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (let row = nextAt(tables, key); row !== undefined; row = nextAt(tables, key)) {
      tables.gates.get(key)?.blocked.delete(row)
      row.waitsFor = undefined
      admitAtGates(tables, row)
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

/** The most urgent run at a gate that has room. */
function nextAt(tables: Tables, key: string): RunRow | undefined {
  const gate = tables.gates.get(key)
  return gate !== undefined && gate.admitted < gate.limit() ? gate.blocked.first : undefined
}

/** Puts a run that was kept elsewhere where its phase says: among those that have taken its gates, or at the one it waits for. */
export function standAtGates(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') {
    const gate = row.gates.find(({ key }) => key === row.waitsFor)
    if (gate !== undefined) gateOf(tables, row, gate).blocked.add(row)
    return
  }
  for (const gate of row.gates) gateOf(tables, row, gate).admitted++
  if (row.phase === 'ready') readyLine(tables, row).add(row)
}

/** Takes a run away from its gates, of which nobody else hears: another row will stand in its place. */
export function leaveGates(tables: Tables, row: RunRow): void {
  if (row.phase === 'blocked') tables.gates.get(row.waitsFor ?? '')?.blocked.delete(row)
  if (row.phase === 'ready') readyLine(tables, row).delete(row)
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
  const known = tables.gates.get(gate.key)
  if (known !== undefined) return known
  const fresh: GateRow = {
    key: gate.key,
    limit: limitOf(tables, row.job, gate),
    job: row.job,
    admitted: 0,
    blocked: new OrderedSet(byUrgency),
  }
  tables.gates.set(gate.key, fresh)
  return fresh
}

/** A job's own limits are read from its definition each time, so that a change holds at once. */
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
