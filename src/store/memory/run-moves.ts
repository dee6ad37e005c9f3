/**
 * How a run changes its phase. Every change removes the row from the index of its old phase before any field that
 * the index compares changes, and then adds it to the index of the new phase.
 *
 *   insert, retry, finish(pending) ─▶ delayed ─ due ─▶ ready ⇄ running
 *                                        └─ a limit is full ─▶ blocked ─ a slot is free ─▶ ready
 *   any of them ─▶ done | failed | cancelled ─ retry ─▶ pending
 *
 * A run takes its concurrency slots when it becomes ready and returns them when it leaves ready and running.
 */
import { deadLetterRun } from '../../kernel/run/dead-letter.js'
import { endEffectNamed } from '../../kernel/run/end-effect.js'
import type { Phase } from '../../kernel/run/fact.js'
import type { FinalState, NewRun } from '../../kernel/run/run.js'
import { deadlineChanges } from '../../kernel/sla/deadline.js'
import type { Instant } from '../../time/instant.js'
import { admit, readyIndex, releaseSlots, stopWaiting } from './concurrency-slots.js'
import { copyJson } from './json-copy.js'
import { applyEndEffect, endedRun, noteFailure } from './end-effect.js'
import { pauseFailing } from './policies/auto-pause.js'
import { writeStateEntry } from './state.js'
import { getOrAdd, jobOf, runsOfJob, runsOfTrigger, stateOf, type RunRow, type Tables } from './tables.js'

/** Inserts a pending run; a run whose id exists stays unchanged. */
export function insertRun(tables: Tables, run: NewRun, now: Instant): boolean {
  if (tables.runs.has(run.id)) return false
  if (run.endEffect !== undefined) endEffectNamed(tables.endEffects, run.endEffect)
  const row = newRow(run, { seq: ++tables.lastSeq, now })
  indexRun(tables, row)
  markUnfinished(tables, row)
  placePending(tables, row, now)
  for (const change of deadlineChanges(run)) writeStateEntry(tables, change, now)
  return true
}

/** Adds a run to the indexes that hold every run, whatever its phase. */
export function indexRun(tables: Tables, row: RunRow): void {
  tables.runs.set(row.id, row)
  tables.runsById.add(row)
  tables.counts[stateOf(row.phase)]++
  if (row.trigger === undefined) return
  const { all, own } = runsOfTrigger(tables, row.trigger)
  all.add(row)
  if (row.origin === 'trigger') own.add(row)
}

/** Adds a pending run to the index where it waits: delayed until `runAt`, blocked at a limit, or ready. */
export function placePending(tables: Tables, row: RunRow, now: Instant): void {
  if (row.runAt <= now) {
    admit(tables, row)
    return
  }
  enter(tables, row, 'delayed')
  tables.delayed.add(row)
}

/** Makes every delayed run that is due ready, in the order of `runAt`. */
export function promote(tables: Tables, now: Instant): void {
  for (;;) {
    const row = tables.delayed.first
    if (row === undefined || row.runAt > now) return
    tables.delayed.delete(row)
    admit(tables, row)
  }
}

/** Makes an unfinished run final. */
export function makeFinal(
  tables: Tables,
  row: RunRow,
  end: { state: FinalState; at: Instant; reason: string | undefined },
): void {
  const left = leave(tables, row)
  enter(tables, row, end.state)
  row.finishedAt = end.at
  row.reason = end.reason
  tables.final.add(row)
  markFinal(tables, row)
  if (left.hadSlots) releaseSlots(tables, row)
  if (end.state === 'failed') noteFailure(tables, row)
  applyEndEffect(tables, row)
  if (end.state !== 'failed') return
  sendDeadLetter(tables, row)
  pauseFailing(tables, row)
}

function sendDeadLetter(tables: Tables, row: RunRow): void {
  const { deadLetter } = jobOf(tables, row.job)
  if (deadLetter === undefined) return
  const failed = { ...endedRun(row), attempt: row.attempt, payload: row.payload }
  insertRun(tables, deadLetterRun(failed, jobOf(tables, deadLetter)), failed.at)
}

/** Makes a running or final run pending again; runs that wait for its slots go first. */
export function makePending(tables: Tables, row: RunRow, wait: { runAt: Instant; now: Instant }): void {
  const wasFinal = tables.final.delete(row)
  const left = wasFinal ? { hadSlots: false } : leave(tables, row)
  enter(tables, row, 'delayed')
  row.runAt = wait.runAt
  row.finishedAt = undefined
  if (wasFinal) markUnfinished(tables, row)
  if (left.hadSlots) releaseSlots(tables, row)
  placePending(tables, row, wait.now)
}

/** Removes one crash from the count of a run, which may change its ready index. */
export function uncountCrash(tables: Tables, row: RunRow): void {
  const isReady = row.phase === 'ready'
  if (isReady) readyIndex(tables, row).delete(row)
  row.crashes = Math.max(0, row.crashes - 1)
  if (isReady) readyIndex(tables, row).add(row)
  tables.touched?.runs.add(row)
}

/** Gives a ready run to a worker under the next attempt number. */
export function makeRunning(tables: Tables, row: RunRow, claim: { worker: string; now: Instant }): void {
  readyIndex(tables, row).delete(row)
  enter(tables, row, 'running')
  row.attempt++
  row.worker = claim.worker
  row.claimedAt = claim.now
  row.startedAt = undefined
  const attempt = {
    run: row.id,
    attempt: row.attempt,
    worker: claim.worker,
    claimedAt: claim.now,
    startedAt: undefined,
    endedAt: undefined,
    end: undefined,
    error: undefined,
  }
  // Most runs have one attempt, and an array that grows by push reserves room for many.
  row.attempts = row.attempts.length === 0 ? [attempt] : [...row.attempts, attempt]
  runsOfJob(tables, row.job).running++
  tables.workers.get(claim.worker)?.running.add(row)
}

/** Removes a final run and everything that belongs to it. */
export function forgetRun(tables: Tables, row: RunRow): void {
  tables.touched?.runs.add(row)
  tables.final.delete(row)
  tables.runs.delete(row.id)
  tables.runsById.delete(row)
  if (row.trigger !== undefined) {
    const { all, own } = runsOfTrigger(tables, row.trigger)
    all.delete(row)
    own.delete(row)
  }
  tables.counts[stateOf(row.phase)]--
  forgetUnique(tables, row)
}

/** The index key of a job's unique key. */
export function uniqueSlot(job: string, uniqueKey: string): string {
  return JSON.stringify([job, uniqueKey])
}

const noAttempts: never[] = []

function newRow(run: NewRun, { seq, now }: { seq: number; now: Instant }): RunRow {
  return {
    seq,
    phase: 'delayed',
    id: run.id,
    job: run.job,
    origin: run.origin,
    trigger: run.trigger,
    version: run.version,
    dueAt: run.dueAt,
    runAt: run.runAt,
    priority: run.priority,
    partition: run.partition,
    payload: copyJson(run.payload),
    slots: run.slots,
    endEffect: run.endEffect,
    uniqueKey: run.uniqueKey,
    uniqueUntil: run.uniqueUntil,
    attempt: 0,
    failures: 0,
    crashes: 0,
    worker: undefined,
    waitsFor: undefined,
    cancelRequested: false,
    createdAt: now,
    claimedAt: undefined,
    startedAt: undefined,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
    reason: undefined,
    labels: run.labels === undefined ? undefined : { ...run.labels },
    attempts: noAttempts,
    log: undefined,
  }
}

/** Removes an unfinished run from the index of its phase; returns whether it still holds concurrency slots. */
function leave(tables: Tables, row: RunRow): { hadSlots: boolean } {
  switch (row.phase) {
    case 'delayed':
      tables.delayed.delete(row)
      return { hadSlots: false }
    case 'blocked':
      stopWaiting(tables, row)
      return { hadSlots: false }
    case 'ready':
      readyIndex(tables, row).delete(row)
      return { hadSlots: true }
    case 'running':
      runsOfJob(tables, row.job).running--
      tables.workers.get(row.worker ?? '')?.running.delete(row)
      row.worker = undefined
      return { hadSlots: true }
    case 'done':
    case 'failed':
    case 'cancelled':
      return { hadSlots: false }
  }
}

function enter(tables: Tables, row: RunRow, phase: Phase): void {
  tables.counts[stateOf(row.phase)]--
  tables.counts[stateOf(phase)]++
  tables.touched?.runs.add(row)
  row.phase = phase
}

/** Counts a run as unfinished and its unique key as taken. */
export function markUnfinished(tables: Tables, row: RunRow): void {
  runsOfJob(tables, row.job).unfinished++
  if (row.trigger !== undefined) runsOfTrigger(tables, row.trigger).unfinished.add(row)
  takeUnique(tables, row)
}

/** Records that a run holds, or may hold, its unique key. */
export function takeUnique(tables: Tables, row: RunRow): void {
  if (row.uniqueKey === undefined) return
  const slot = uniqueSlot(row.job, row.uniqueKey)
  getOrAdd(tables.unique, slot, () => new Set()).add(row)
}

/** Counts a run as final; its unique key is free unless `uniqueUntil` keeps it longer. */
export function markFinal(tables: Tables, row: RunRow): void {
  runsOfJob(tables, row.job).unfinished--
  if (row.trigger !== undefined) runsOfTrigger(tables, row.trigger).unfinished.delete(row)
  if (row.uniqueUntil === undefined) forgetUnique(tables, row)
}

function forgetUnique(tables: Tables, row: RunRow): void {
  if (row.uniqueKey === undefined) return
  const slot = uniqueSlot(row.job, row.uniqueKey)
  const holders = tables.unique.get(slot)
  holders?.delete(row)
  if (holders?.size === 0) tables.unique.delete(slot)
}
