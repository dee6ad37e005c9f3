/**
 * Roll-ups: how many runs ended in each hour, by job and state, with their durations and delays. A chart of a month
 * reads them instead of a million runs, and they stay when runs are pruned.
 *
 * They are state entries of the kind `rollup`: one for each day and job, named after the day, and one for each day over
 * all jobs, whose item is empty. The entry `until` says up to where they are complete. An hour is counted once, some
 * time after it is over, when no end of it can arrive any more; an end belongs to the hour of its `finishedAt`. The
 * numbers of an hour are written as they are counted, never added to, and every write also changes `until`: of two
 * processes that count the same hour one is refused, and one that is killed leaves an hour that is counted again.
 */
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { SeriesRow } from '../../store/series.js'
import type { Store } from '../../store/port.js'
import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { daysKeptMs } from './kept.js'
import { writeHours, type Hours } from './rolled-hours.js'

/** How long after its end an hour is counted: a worker may report an end until its lease expires. */
const settleMs = 10 * 60_000

/** How many entries one transaction writes. */
const entriesPerCommit = 200

const markKey = { kind: 'rollup', name: 'until', item: '' } as const

/** Up to where hours are counted: runs that ended later must not be pruned yet, however short the retention is. */
export function countedUntil(now: Instant): Instant {
  return floorTo(now - settleMs, HOUR_MS)
}

/** Rolls up past hours, at most those of one day; returns whether more are left. */
export async function rollUp(store: Store, now: Instant): Promise<'more' | 'done'> {
  const closedAt = countedUntil(now)
  const mark = await readMark(store)
  const fromAt = mark.untilAt ?? (await firstDay(store, closedAt))
  if (fromAt === undefined || fromAt >= closedAt) return 'done'
  const untilAt = Math.min(floorTo(fromAt, DAY_MS) + DAY_MS, closedAt)
  const rows = await store.series({ fromAt, untilAt, bucketMs: HOUR_MS, byJob: true })
  const changes = await changesOf(store, fromAt, rows)
  let { revision } = mark
  for (let i = 0; i === 0 || i < changes.length; i += entriesPerCommit) {
    const isLast = i + entriesPerCommit >= changes.length
    const moved = { ...markKey, revision, value: isLast ? untilAt : fromAt }
    const piece = [moved, ...changes.slice(i, i + entriesPerCommit)]
    if ((await store.changeState({ changes: piece, now })) === 'stale') return 'more'
    revision += 1
  }
  return untilAt < closedAt ? 'more' : 'done'
}

/** Removes some entries by day that are older than their retention: roll-ups and coverage. Returns how many. */
export async function forgetDays(store: Store, now: Instant): Promise<number> {
  const oldest = dayName(now - daysKeptMs)
  let forgotten = 0
  for (const kind of ['rollup', 'coverage'] as const) {
    // Entries are named after days, which sort by time and before every other name.
    const found = await store.stateEntries({ kind, limit: entriesPerCommit })
    const changes = found
      .filter(({ name }) => name < oldest)
      .map(({ name, item }) => ({ kind, name, item, value: undefined }))
    if (changes.length > 0) await store.changeState({ changes, now })
    forgotten += changes.length
  }
  return forgotten
}

/** Up to where roll-ups are complete; undefined if there are none. */
export async function rolledUntil(store: Store): Promise<Instant | undefined> {
  return (await readMark(store)).untilAt
}

/** The name of the entries of a day. */
export function dayName(at: Instant): string {
  return formatInstant(at).slice(0, 10)
}

async function readMark(store: Store): Promise<{ untilAt: Instant | undefined; revision: number }> {
  const [entry] = await store.stateEntries({ kind: 'rollup', names: [markKey.name], items: [''], limit: 1 })
  return { untilAt: entry?.value as Instant | undefined, revision: entry?.revision ?? 0 }
}

/** The day of the first stored end. Searches by week, because everything after it is read again by day. */
async function firstDay(store: Store, closedAt: Instant): Promise<Instant | undefined> {
  if ((await store.pulse()).endedAt === 0) return undefined
  const week = 7 * DAY_MS
  for (let fromAt = floorTo(closedAt - daysKeptMs, DAY_MS); fromAt < closedAt; fromAt += week) {
    const untilAt = Math.min(fromAt + week, closedAt)
    const [first] = await store.series({ fromAt, untilAt, bucketMs: DAY_MS })
    if (first !== undefined) return first.bucketAt
  }
  return undefined
}

/** The changes of a day's entries with these hours. */
async function changesOf(store: Store, at: Instant, rows: readonly SeriesRow[]): Promise<StateChange[]> {
  const name = dayName(at)
  const byJob = new Map<string, SeriesRow[]>([['', []]])
  for (const row of rows) {
    byJob.get('')?.push(row)
    const job = row.job ?? ''
    byJob.set(job, [...(byJob.get(job) ?? []), row])
  }
  if (rows.length === 0) return []
  const changes: StateChange[] = []
  const jobs = [...byJob]
  for (let i = 0; i < jobs.length; i += entriesPerCommit) {
    const some = jobs.slice(i, i + entriesPerCommit)
    const items = some.map(([job]) => job)
    const known = await store.stateEntries({ kind: 'rollup', names: [name], items, limit: items.length })
    const before = new Map(known.map(({ item, value }) => [item, value as unknown as Hours]))
    for (const [item, found] of some) {
      const value = { ...before.get(item), ...writeHours(found) } as unknown as Json
      changes.push({ kind: 'rollup', name, item, value })
    }
  }
  return changes
}

function floorTo(at: Instant, ms: number): Instant {
  return at - (at % ms)
}
