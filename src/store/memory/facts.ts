import type { Fact, FactPage, RunFact, TriggerFact, WorkerFact } from '../../kernel/run/fact.js'
import { putEntry } from './audit/entries.js'
import { toHold } from './holds.js'
import { copyJson } from './json-copy.js'
import { putStateEntry, remember } from './state.js'
import { toStored } from './planning.js'
import { restoreHold, restoreRun, restoreTrigger, restoreWorker } from './restore.js'
import { addRange, forgetDerived, noteTime, type RunRow, type Tables, type TriggerRow } from './tables.js'

type Section = (tables: Tables) => Fact[]

/** Facts are exported one whole section per page: tables that fit into memory fit there twice. */
const sections: readonly Section[] = [
  ({ queues }) => [...queues.values()].map((queue) => ({ kind: 'queue', queue })),
  ({ jobs }) => [...jobs.values()].map(({ job, source }) => ({ kind: 'job', job, source })),
  workers,
  ({ holds }) =>
    [...holds.values()]
      .flat()
      .toSorted((a, b) => a.id - b.id)
      .map((row) => ({ kind: 'hold', hold: toHold(row), isReleased: row.isReleased })),
  ({ triggers }) => [...triggers.values()].map((row) => ({ kind: 'trigger', trigger: toTriggerFact(row) })),
  runs,
  ranges,
  ({ state }) => [...state].map((entry) => ({ kind: 'note', note: { ...entry } })),
  seen,
  ({ audit }) => [...audit.values()].map(({ seq: _seq, ...entry }) => ({ kind: 'audit', entry })),
  ({ highestAt, epoch, jobsRevision }) => [{ kind: 'counters', highestAt, epoch, jobsRevision }],
]

/** Returns one section of the facts. */
export function facts(tables: Tables, request: { after?: string | undefined }): FactPage {
  const index = Number(request.after ?? 0)
  const next = index + 1 < sections.length ? String(index + 1) : undefined
  return { facts: sections[index]?.(tables) ?? [], next }
}

/** Inserts a fact unchanged. Some stores keep logs elsewhere, so the caller inserts those. */
export function takeFact(tables: Tables, fact: Exclude<Fact, { kind: 'log' }>): void {
  const { touched } = tables
  switch (fact.kind) {
    case 'queue':
      forgetDerived(tables)
      tables.queues.set(fact.queue.name, fact.queue)
      if (touched !== undefined) touched.definitions = true
      return
    case 'job':
      forgetDerived(tables)
      tables.jobs.set(fact.job.name, { job: fact.job, source: fact.source })
      if (touched !== undefined) touched.definitions = true
      return
    case 'worker': {
      const { startedAt, leaseUntil, notices, ...worker } = fact.worker
      const leaseMs = leaseUntil - startedAt
      restoreWorker(tables, { ...worker, now: startedAt, leaseUntil, leaseMs, notices: [...notices] })
      const row = tables.workers.get(worker.id)
      if (row !== undefined) touched?.workers.add(row)
      return
    }
    case 'hold': {
      const row = { ...fact.hold, isReleased: fact.isReleased }
      restoreHold(tables, row)
      tables.lastHold = Math.max(tables.lastHold, row.id)
      touched?.holds.add(row)
      return
    }
    case 'trigger': {
      const row: TriggerRow = { ...fact.trigger, versions: fact.trigger.versions.map((one) => ({ ...one })) }
      restoreTrigger(tables, row)
      touched?.triggers.add(row)
      return
    }
    case 'run': {
      const row = toRow(fact.run, ++tables.lastSeq)
      restoreRun(tables, row)
      touched?.runs.add(row)
      return
    }
    case 'range':
      addRange(tables, { ...fact.range, seq: ++tables.lastSeq })
      return
    case 'note':
      putStateEntry(tables, fact.note)
      return
    case 'seen':
      remember(tables, fact.trigger, fact.key)
      return
    case 'audit':
      putEntry(tables, { ...fact.entry, seq: tables.lastAudit + 1 })
      return
    case 'counters':
      noteTime(tables, fact.highestAt)
      tables.epoch = fact.epoch
      tables.jobsRevision = fact.jobsRevision
  }
}

function workers(tables: Tables): Fact[] {
  const known = [...tables.workers.values()].map(
    ({ running: _running, leaseMs: _leaseMs, now: startedAt, notices, ...row }): WorkerFact => {
      return { ...row, startedAt, notices: [...notices] }
    },
  )
  return [...known, ...forgotten(tables)].map((worker) => ({ kind: 'worker', worker }))
}

/** Workers that only attempts still name: SQL stores keep the names of workers in one table. */
function forgotten(tables: Tables): Iterable<WorkerFact> {
  const found = new Map<string, WorkerFact>()
  for (const { attempts } of tables.runs.values()) {
    for (const { worker: id, claimedAt } of attempts) {
      if (id === undefined || tables.workers.has(id) || found.has(id)) continue
      const lease = { startedAt: claimedAt, lastBeatAt: undefined, leaseUntil: claimedAt, isGone: true }
      const process = { host: '', pid: 0, version: '', roles: ['worker'], slots: undefined }
      found.set(id, { id, ...process, ...lease, isDraining: false, notices: [] })
    }
  }
  return found.values()
}

function runs(tables: Tables): Fact[] {
  const rows = [...tables.runs.values()].toSorted((a, b) => a.seq - b.seq)
  return rows.flatMap((row): Fact[] => {
    const { seq: _seq, log, ...run } = row
    const fact: Fact = { kind: 'run', run: { ...run, attempts: run.attempts.map((one) => ({ ...one })) } }
    return log === undefined ? [fact] : [fact, { kind: 'log', lines: [...log.lines] }]
  })
}

function ranges(tables: Tables): Fact[] {
  const rows = [...tables.runsByTrigger.values()].flatMap(({ ranges }) => [...ranges])
  return rows.toSorted((a, b) => a.seq - b.seq).map(({ seq: _seq, ...range }) => ({ kind: 'range', range }))
}

function seen(tables: Tables): Fact[] {
  return [...tables.seen].flatMap(([trigger, digests]) =>
    [...digests].map(([digest, untilAt]): Fact => ({ kind: 'seen', trigger, key: { digest, untilAt } })),
  )
}

function toTriggerFact(row: TriggerRow): TriggerFact {
  const { fingerprint, keptAt } = row
  return { ...toStored(row), fingerprint, keptAt, versions: row.versions.map((one) => ({ ...one })) }
}

function toRow(run: RunFact, seq: number): RunRow {
  const attempts = run.attempts.map((attempt) => ({ ...attempt }))
  const [payload, result] = [copyJson(run.payload), copyJson(run.result)]
  return { ...run, seq, payload, result, attempts, log: undefined }
}
