import type { Run } from '../../../kernel/run/run.js'
import {
  idRange,
  listOf,
  readPattern,
  searchedText,
  type RunCount,
  type RunFilter,
  type RunsPage,
} from '../../run-filter.js'
import { type RunConditions } from '../../run-conditions.js'
import { toRun } from '../reading.js'
import { stateOf, type RunRow, type Tables } from '../tables.js'

/** Runs, newest first. */
export function runsPage(tables: Tables, filter: RunFilter): RunsPage<Run> {
  const { rows, lookedTo } = find(tables, filter)
  const newestFirst = filter.newerThan === undefined ? rows : rows.toReversed()
  return { runs: newestFirst.map(toRun), lookedTo }
}

/** How many runs a filter matches. */
export function countRuns(tables: Tables, filter: Omit<RunFilter, 'limit'>, atMost: number): RunCount {
  const { rows, lookedTo } = find(tables, { ...filter, limit: atMost + 1 })
  return {
    count: Math.min(rows.length, atMost),
    isCapped: rows.length > atMost || lookedTo !== undefined,
  }
}

function find(tables: Tables, filter: RunFilter): { rows: RunRow[]; lookedTo: string | undefined } {
  const { trigger, limit, look = Infinity, before, newerThan } = filter
  const isOfTrigger = typeof trigger === 'string'
  const source = isOfTrigger ? tables.runsByTrigger.get(trigger)?.all : tables.runsById
  const rows: RunRow[] = []
  if (source === undefined) return { rows, lookedTo: undefined }
  const { from, until } = idRange(isOfTrigger ? { before, newerThan } : filter)
  const inOrder =
    newerThan === undefined ? source.backwards(({ id }) => id < until) : source.from(({ id }) => id < from)
  const fits = matcher(tables, filter)
  let looked = 0
  for (const row of inOrder) {
    if (row.id < from || row.id >= until || rows.length >= limit) break
    looked++
    if (fits(row)) rows.push(row)
    if (looked >= look && rows.length < limit) return { rows, lookedTo: row.id }
  }
  return { rows, lookedTo: undefined }
}

/** Returns the function that decides whether a run matches a filter. */
function matcher(tables: Tables, conditions: RunConditions): (row: RunRow) => boolean {
  const { queue, partition, errorCode, errorText, worker, labels, late } = conditions
  const { sinceAt = -Infinity, untilAt = Infinity } = conditions
  const isState = isOneOf(conditions.state)
  const isJob = isOneOf(conditions.job)
  const isTrigger = isOneOf(conditions.trigger)
  const isOrigin = isOneOf(conditions.origin)
  const isCode = fitsPattern(errorCode)
  const isWorker = fitsPattern(worker)
  const wanted = errorText === undefined ? undefined : searchedText(errorText)
  return (row) =>
    isState(stateOf(row.phase)) &&
    isJob(row.job) &&
    isTrigger(row.trigger) &&
    isOrigin(row.origin) &&
    isCode(row.error?.code) &&
    isWorker(row.phase === 'running' ? row.worker : undefined) &&
    (queue === undefined || tables.jobs.get(row.job)?.job.queue === queue) &&
    (partition === undefined || row.partition === partition) &&
    Object.entries(labels ?? {}).every(([name, value]) => row.labels?.[name] === value) &&
    (wanted === undefined || (row.error !== undefined && searchedText(row.error.message).includes(wanted))) &&
    row.dueAt >= sinceAt &&
    row.dueAt <= untilAt &&
    (late === undefined || isLate(row, late))
}

function isOneOf<T>(given: T | readonly T[] | undefined): (value: T | undefined) => boolean {
  const values = listOf(given)
  return values === undefined ? () => true : (value) => value !== undefined && values.includes(value)
}

function fitsPattern(pattern: string | undefined): (value: string | undefined) => boolean {
  if (pattern === undefined) return () => true
  const { text, isPrefix } = readPattern(pattern)
  return (value) => value !== undefined && (isPrefix ? value.startsWith(text) : value === text)
}

function isLate(row: RunRow, { byMs, at }: { byMs: number; at: number }): boolean {
  const state = stateOf(row.phase)
  if (state === 'pending') return at - row.dueAt > byMs
  const startedAt = row.startedAt ?? (state === 'running' ? at : undefined)
  return startedAt !== undefined && startedAt - row.dueAt > byMs
}
