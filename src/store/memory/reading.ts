import { boundLogLine, emptyLog } from '../../kernel/definition/bounds.js'
import type { Signs } from '../../kernel/run/fact.js'
import type { Hold, HoldTarget } from '../../kernel/hold/hold.js'
import type { LogLine, Run } from '../../kernel/run/run.js'
import type { RecordedRange } from '../../kernel/ledger/ledger.js'
import type { Instant } from '../../time/instant.js'
import type { QueueStatus, Reading, WorkerStatus } from '../port.js'
import { runningIn } from './claims.js'
import { toHold } from './holds.js'
import { copyJson } from './json-copy.js'
import {
  compareText,
  jobOf,
  stateOf,
  type HoldRow,
  type RangeRow,
  type RunRow,
  type Tables,
} from './tables.js'

/** Converts a row to the run that the port returns. */
export function toRun(row: RunRow): Run {
  const {
    seq: _seq,
    phase,
    endEffect: _endEffect,
    uniqueUntil: _until,
    attempts: _attempts,
    log: _log,
    ...run
  } = row
  return { ...run, state: stateOf(phase), payload: copyJson(run.payload), result: copyJson(run.result) }
}

/** The runs with these ids. */
export function runsById(tables: Tables, ids: readonly string[]): Run[] {
  return [...new Set(ids)].flatMap((id) => tables.runs.get(id) ?? []).map(toRun)
}

/** Runs whose id starts with a prefix, in order. */
export function runsByPrefix(tables: Tables, prefix: string, limit: number): Run[] {
  const found: Run[] = []
  for (const row of tables.runsById.from((run) => run.id < prefix)) {
    if (found.length >= limit || !row.id.startsWith(prefix)) break
    found.push(toRun(row))
  }
  return found
}

/** The due instants of a trigger that became runs, oldest first. */
export function runInstants(
  tables: Tables,
  request: Parameters<Reading['runInstants']>[0],
): { dueAt: Instant; id: string; state: Run['state'] }[] {
  const found: { dueAt: Instant; id: string; state: Run['state'] }[] = []
  const own = tables.runsByTrigger.get(request.trigger)?.own
  for (const row of own?.from((run) => run.dueAt < request.fromAt) ?? []) {
    if (found.length >= request.limit || row.dueAt > request.untilAt) break
    found.push({ dueAt: row.dueAt, id: row.id, state: stateOf(row.phase) })
  }
  return found
}

/** The ranges of a trigger that overlap a window, oldest first. */
export function ledger(tables: Tables, request: Parameters<Reading['ledger']>[0]): RecordedRange[] {
  const ranges = tables.runsByTrigger.get(request.trigger)?.ranges ?? []
  const found: RecordedRange[] = []
  for (const range of ranges) {
    if (range.firstAt > request.untilAt) break
    if (range.lastAt >= request.fromAt) found.push(toRecorded(range))
  }
  return found
}

/** Appends lines to the logs of existing runs, within their size limits. */
export function log(tables: Tables, lines: readonly LogLine[]): void {
  for (const given of lines) {
    const row = tables.runs.get(given.run)
    if (row === undefined) continue
    row.log ??= { use: emptyLog, lines: [] }
    const { use, line } = boundLogLine(row.log.use, given)
    row.log.use = use
    if (line !== undefined) row.log.lines.push({ ...line, seq: row.log.lines.length + 1 })
  }
}

/** Holds, newest first. */
export function holds(tables: Tables, filter: { target?: HoldTarget | undefined; openAt?: Instant }): Hold[] {
  const { target, openAt } = filter
  const rows = target === undefined ? [...tables.holds.values()].flat() : (tables.holds.get(target) ?? [])
  const isOpen = (row: HoldRow): boolean =>
    openAt === undefined || row.untilAt === undefined || row.untilAt > openAt
  return rows
    .filter(isOpen)
    .toSorted((a, b) => b.id - a.id)
    .map(toHold)
}

/** Queues that are defined or used, by name. */
export function queues(tables: Tables): QueueStatus[] {
  const names = new Set([...tables.queues.keys(), ...[...tables.jobs.values()].map(({ job }) => job.queue)])
  return [...names].toSorted(compareText).map((name) => ({
    name,
    concurrency: tables.queues.get(name)?.concurrency,
    limit: tables.queues.get(name)?.limit,
    paused: isPaused(tables, name),
    ...waitingIn(tables, name),
    running: runningIn(tables, name),
  }))
}

/** Workers that have not been declared gone, by id. */
export function workers(tables: Tables): WorkerStatus[] {
  return [...tables.workers.values()]
    .filter((worker) => !worker.isGone)
    .toSorted((a, b) => compareText(a.id, b.id))
    .map(({ isGone: _isGone, notices: _notices, now: startedAt, leaseMs: _leaseMs, ...row }) => {
      return { ...row, startedAt, running: row.running.size }
    })
}

/** The last heartbeat of processes with a role before an instant, and the start of the first that lived longer. */
export function signsOf(tables: Tables, { role, until }: { role: string; until: Instant }): Signs {
  let lastBeatAt: Instant | undefined
  let livingSince: Instant | undefined
  for (const { roles, now: startedAt, lastBeatAt: beatAt = startedAt } of tables.workers.values()) {
    if (!roles.includes(role) || startedAt > until) continue
    if (beatAt <= until) lastBeatAt = Math.max(lastBeatAt ?? beatAt, beatAt)
    else livingSince = Math.min(livingSince ?? startedAt, startedAt)
  }
  return { lastBeatAt, livingSince }
}

function toRecorded({ seq: _seq, ...range }: RangeRow): RecordedRange {
  return range
}

/** No instant is passed in, so a hold with an end counts until a later instant has been recorded. */
function isPaused(tables: Tables, queue: string): boolean {
  const rows = tables.holds.get(`queue:${queue}`) ?? []
  return rows.some((row) => !row.isReleased && (row.untilAt ?? Infinity) > tables.highestAt)
}

/** The runs of a queue that wait for a worker, for their instant, and for a concurrency slot. */
function waitingIn(tables: Tables, queue: string) {
  let [ready, delayed, blocked, oldestReadyAt] = [0, 0, 0, Infinity]
  for (const { job, phase, runAt } of tables.runs.values()) {
    if (jobOf(tables, job).queue !== queue) continue
    if (phase === 'delayed') delayed += 1
    if (phase === 'blocked') blocked += 1
    if (phase !== 'ready') continue
    ready += 1
    oldestReadyAt = Math.min(oldestReadyAt, runAt)
  }
  return { ready, delayed, blocked, oldestReadyAt: ready === 0 ? undefined : oldestReadyAt }
}
