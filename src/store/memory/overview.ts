import type { Run } from '../../kernel/run/run.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type {
  LedgerEntry,
  LedgerPage,
  Overview,
  Pulse,
  RunMark,
  TallyRow,
  TriggerCursor,
  TriggersPage,
  Troubled,
} from '../overview.js'
import { toStored } from './planning.js'
import { toRun } from './reading.js'
import { compareText, stateOf, type RunRow, type Tables } from './tables.js'

/** Numbers that change whenever the store changes. */
export function pulse(tables: Tables): Pulse {
  const workers = [...tables.workers.values()]
  const running = workers.flatMap((worker) => [...worker.running])
  const [newestRun] = tables.final.backwards()
  return {
    store: tables.id,
    epoch: tables.epoch,
    runs: tables.lastSeq,
    ledger: tables.lastSeq,
    endedAt: newestRun?.finishedAt ?? 0,
    running: running.length,
    claimedAt: Math.max(0, ...running.map(({ claimedAt }) => claimedAt ?? 0)),
    jobs: tables.jobsRevision,
    holds: tables.lastHold + [...tables.holds.values()].flat().filter(({ isReleased }) => isReleased).length,
    workers: workers.length,
    live: workers.filter(({ isGone }) => !isGone).length,
    stateAt: tables.newestState.at,
    stateRevisions: tables.newestState.revisions,
    audit: tables.lastAudit,
  }
}

/** One page of triggers. */
export function triggersPage(tables: Tables, request: TriggersPage): StoredTrigger[] {
  const { limit, order, after, before } = request
  const rows =
    order === 'next'
      ? [...tables.byNextTick.from(() => false)]
      : [...tables.triggers.values()].toSorted((a, b) => compareText(a.trigger.name, b.trigger.name))
  const placeOf = ({ nextAt, trigger }: StoredTrigger, cursor: TriggerCursor): number => {
    const byName = compareText(trigger.name, cursor.name)
    if (order === 'name' || cursor.nextAt === undefined) return byName
    return (nextAt ?? 0) - cursor.nextAt || byName
  }
  const found = rows.filter(
    (row) =>
      (after === undefined || placeOf(row, after) > 0) &&
      (before === undefined || placeOf(row, before) < 0) &&
      fits(row, request),
  )
  return (before === undefined ? found.slice(0, limit) : found.slice(-limit)).map(toStored)
}

function fits({ trigger, source, active }: StoredTrigger, request: TriggersPage): boolean {
  const { search, names } = request
  if (search !== undefined && !trigger.name.toLowerCase().includes(search.toLowerCase())) return false
  if (names !== undefined && !names.includes(trigger.name)) return false
  if (request.jobs?.includes(trigger.job) === false) return false
  if (request.source !== undefined && source !== request.source) return false
  return request.active === undefined || active === request.active
}

/** The newest runs of each trigger. */
export function recentRuns(
  tables: Tables,
  { triggers, each }: Parameters<Overview['recentRuns']>[0],
): RunMark[] {
  return triggers.flatMap((trigger) => {
    const found: RunMark[] = []
    for (const row of tables.runsByTrigger.get(trigger)?.all.backwards() ?? []) {
      if (found.length >= each) break
      found.push(markOf(row, trigger))
    }
    return found
  })
}

/** The runs of triggers in a range of time. */
export function lanes(tables: Tables, request: Parameters<Overview['lanes']>[0]): RunMark[] {
  return request.triggers.flatMap((trigger) =>
    rowsIn(tables, trigger, request).map((row) => markOf(row, trigger)),
  )
}

/** How many runs are due in each bucket. */
export function tally(tables: Tables, request: Parameters<Overview['tally']>[0]): TallyRow[] {
  const { fromAt, untilAt, bucketMs } = request
  return request.triggers.flatMap((trigger) => {
    const rows = new Map<string, TallyRow>()
    for (const { dueAt, phase } of rowsIn(tables, trigger, {
      fromAt,
      untilAt: untilAt - 1,
      limit: Infinity,
    })) {
      const bucketAt = dueAt - ((dueAt - fromAt) % bucketMs)
      const row = { trigger, bucketAt, state: stateOf(phase) }
      const key = `${bucketAt} ${row.state}`
      rows.set(key, { ...row, runs: 1 + (rows.get(key)?.runs ?? 0) })
    }
    return [...rows.values()]
  })
}

function rowsIn(
  tables: Tables,
  trigger: string,
  { fromAt, untilAt, limit }: { fromAt: number; untilAt: number; limit: number },
): RunRow[] {
  const found: RunRow[] = []
  for (const row of tables.runsByTrigger.get(trigger)?.all.from(({ dueAt }) => dueAt < fromAt) ?? []) {
    if (found.length >= limit || row.dueAt > untilAt) break
    found.push(row)
  }
  return found
}

/** Ranges of the ledger, the newest recorded first. */
export function ledgerPage(tables: Tables, request: LedgerPage): LedgerEntry[] {
  const { limit, before = Infinity, triggers, reasons, fromAt = -Infinity, untilAt = Infinity } = request
  const ranges = [...tables.runsByTrigger]
    .filter(([name]) => triggers?.includes(name) ?? true)
    .flatMap(([, { ranges: own }]) => [...own])
  return ranges
    .filter(({ seq, reason }) => seq < before && (reasons?.includes(reason) ?? true))
    .filter(({ recordedAt }) => recordedAt >= fromAt && recordedAt <= untilAt)
    .toSorted((a, b) => b.seq - a.seq)
    .slice(0, limit)
    .map((range) => ({ ...range }))
}

/** The newest failed runs that are not repaired, at most `each` of one trigger and job. */
export function troubled(tables: Tables, { limit, each }: { limit: number; each: number }): Troubled {
  const found: Run[] = []
  const counts = new Map<string, number>()
  for (const row of tables.runsById.backwards()) {
    if (found.length >= limit) break
    if (row.phase !== 'failed' || isRepaired(tables, row)) continue
    const key = JSON.stringify([row.trigger, row.job])
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count <= each) found.push(toRun(row))
  }
  return { runs: found, lookedAt: undefined }
}

function isRepaired(tables: Tables, { trigger, dueAt, partition }: RunRow): boolean {
  if (trigger === undefined) return false
  for (const later of tables.runsByTrigger.get(trigger)?.all.from((row) => row.dueAt <= dueAt) ?? []) {
    if (later.phase === 'done' && later.partition === partition) return true
  }
  return false
}

function markOf(row: RunRow, trigger: string): RunMark {
  const { id, phase, dueAt, startedAt, finishedAt } = row
  return { id, trigger, state: stateOf(phase), dueAt, startedAt, finishedAt }
}
