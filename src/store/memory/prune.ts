import { addCounts, writeCounts } from '../../kernel/ledger/pruned-counts.js'
import type { EndedRun } from '../../kernel/job/retention.js'
import { isFinal, type FinalState } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { PruneRequest, Store } from '../port.js'
import { forgetExpired } from './state.js'
import { forgetRun } from './run-moves.js'
import {
  addRange,
  byFinish,
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
export function prune(tables: Tables, request: PruneRequest): number {
  forgetExpired(tables, request)
  const victims = victimsOf(tables, request)
  for (const row of victims) {
    forgetRun(tables, row)
    if (row.origin === 'trigger' && row.trigger !== undefined) recordPruned(tables, row, request.now)
  }
  return victims.length
}

function victimsOf(tables: Tables, { before, limit, runs }: PruneRequest): readonly RunRow[] {
  const victims: RunRow[] = []
  const named = runs
    ?.flatMap((id) => tables.runs.get(id) ?? [])
    .filter(({ phase }) => isFinal(stateOf(phase)))
  for (const row of named?.toSorted(byFinish) ?? tables.final.from(() => false)) {
    if (victims.length === limit || (row.finishedAt as Instant) >= before) break
    victims.push(row)
  }
  return victims
}

/** Final runs by their ends, the newest first. */
export function endedRuns(
  tables: Tables,
  { after, limit }: Parameters<Store['endedRuns']>[0],
): readonly EndedRun[] {
  const ended: EndedRun[] = []
  const isBefore = ({ finishedAt = 0, id }: RunRow): boolean =>
    after === undefined || finishedAt < after.finishedAt || (finishedAt === after.finishedAt && id < after.id)
  for (const row of tables.final.backwards(isBefore)) {
    if (ended.length === limit) break
    const { id, job, finishedAt = 0 } = row
    ended.push({ id, job, state: stateOf(row.phase) as FinalState, finishedAt })
  }
  return ended
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
