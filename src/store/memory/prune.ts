import { addCounts, writeCounts } from '../../kernel/ledger/pruned-counts.js'
import type { FinalState } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { forgetExpired } from './state.js'
import { forgetFreeKeys } from './policies/rates.js'
import { forgetRun } from './run-moves.js'
import {
  addRange,
  byFirst,
  dropRange,
  runsOfTrigger,
  stateOf,
  type RangeRow,
  type RunRow,
  type Tables,
  type TriggerRuns,
} from './tables.js'

/** Removes the oldest final runs; runs of a due instant leave a `pruned` range, so that they are never planned again. */
export function prune(tables: Tables, request: { before: Instant; limit: number; now: Instant }): number {
  let removed = 0
  forgetExpired(tables, request)
  forgetFreeKeys(tables, request.now)
  while (removed < request.limit) {
    const row = tables.final.first
    if (row === undefined || (row.finishedAt as Instant) >= request.before) break
    forgetRun(tables, row)
    if (row.origin === 'trigger' && row.trigger !== undefined) recordPruned(tables, row, request.now)
    removed++
  }
  return removed
}

function recordPruned(tables: Tables, row: RunRow, now: Instant): void {
  const runs = runsOfTrigger(tables, row.trigger as string)
  const state = stateOf(row.phase) as FinalState
  const range: RangeRow = {
    trigger: row.trigger as string,
    version: row.version ?? 0,
    firstAt: row.dueAt,
    lastAt: row.dueAt,
    reason: 'pruned',
    rule: 'prune',
    detail: writeCounts({ [state]: 1 }),
    recordedAt: now,
    seq: ++tables.lastSeq,
  }
  addRange(tables, range)
  const before = first(runs.ranges.backwards((other) => byFirst(other, range) < 0))
  const joined = joinNeighbours(tables, { first: before, second: range }) ?? range
  const after = first(runs.ranges.from((other) => byFirst(other, joined) <= 0))
  joinNeighbours(tables, { first: joined, second: after })
}

/** Merges two pruned ranges of the same version if no run lies between them. */
function joinNeighbours(
  tables: Tables,
  { first, second }: { first: RangeRow | undefined; second: RangeRow | undefined },
): RangeRow | undefined {
  if (first === undefined || second === undefined) return undefined
  const runs = runsOfTrigger(tables, first.trigger)
  const isPair = first.reason === 'pruned' && second.reason === 'pruned' && first.version === second.version
  if (!isPair || hasRunBetween(runs, first.lastAt, second.firstAt)) return undefined
  dropRange(tables, first)
  dropRange(tables, second)
  const joined = {
    ...first,
    lastAt: Math.max(first.lastAt, second.lastAt),
    detail: addCounts(first.detail, second.detail),
    recordedAt: Math.max(first.recordedAt, second.recordedAt),
  }
  addRange(tables, joined)
  return joined
}

function hasRunBetween(runs: TriggerRuns, afterAt: Instant, beforeAt: Instant): boolean {
  const next = first(runs.own.from((run) => run.dueAt <= afterAt))
  return next !== undefined && next.dueAt < beforeAt
}

function first<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}
