import { RotaError } from '../../model/errors.js'
import type { RunId } from '../../model/identity.js'
import type { LogLine } from '../../model/run.js'
import type { Tick } from '../../model/tick.js'
import type { Instant } from '../../time/instant.js'
import type { DefineJobs, DefineTrigger, Reading, RunFilter, Store, Turn, WorkerEntry } from '../store.js'
import * as definitions from './definitions.js'
import * as holding from './holds.js'
import * as planning from './planning.js'
import { prune } from './prune.js'
import * as reading from './reading.js'
import { compareText, emptyTables, type Tables } from './tables.js'
import * as work from './work.js'

/** Opens a store that lives as long as its tables; several stores on the same tables are several processes on one store. */
export function openMemoryStore(tables: Tables = emptyTables()): Store {
  return new MemoryStore(tables)
}

/** The model that other stores are compared with. Each call runs to its end before another begins, which makes it a transaction. */
class MemoryStore implements Store {
  readonly url = 'memory:'
  readonly #tables: Tables
  readonly #watched = new Set<() => void>()
  #isClosed = false

  constructor(tables: Tables) {
    this.#tables = tables
  }

  async defineJobs(request: DefineJobs) {
    return this.#write((tables) => definitions.defineJobs(tables, request))
  }

  async defineTriggers(batch: readonly DefineTrigger[]) {
    return this.#write((tables) => batch.map((item) => definitions.defineTrigger(tables, item)))
  }

  async jobs() {
    return this.#read(({ jobs }) =>
      [...jobs.values()].toSorted((a, b) => compareText(a.job.name, b.job.name)),
    )
  }

  async removeJobs(names: readonly string[]) {
    return this.#write((tables) => definitions.removeJobs(tables, names))
  }

  async queues() {
    return this.#read(reading.queues)
  }

  async triggers(filter: { source?: string; names?: readonly string[] } = {}) {
    return this.#read((tables) => definitions.triggers(tables, filter))
  }

  async fingerprints(source: string) {
    return this.#read((tables) => definitions.fingerprints(tables, source))
  }

  async versions(trigger: string) {
    return this.#read(({ triggers }) =>
      (triggers.get(trigger)?.versions ?? []).map((version) => ({ ...version })),
    )
  }

  async due(request: { now: Instant; limit: number }) {
    return this.#read((tables) => planning.due(tables, request))
  }

  async dueByName(request: { names: readonly string[]; now: Instant }) {
    return this.#read((tables) => planning.dueByName(tables, request))
  }

  async tick(batch: readonly Tick[]) {
    return this.#write((tables) => batch.map((item) => planning.tick(tables, item)))
  }

  async nextTickAt(request: { now: Instant }) {
    return this.#read((tables) => planning.nextTickAt(tables, request.now))
  }

  async enqueue(request: Parameters<Store['enqueue']>[0]) {
    return this.#write((tables) => work.enqueue(tables, request))
  }

  async register(worker: WorkerEntry) {
    this.#write((tables) => work.register(tables, worker))
  }

  async heartbeat(request: { worker: string; now: Instant; leaseMs: number }) {
    // Nothing becomes due or claimable through it, so nobody is woken.
    return this.#read((tables) => work.heartbeat(tables, request))
  }

  async retire(request: { worker: string; now: Instant }) {
    this.#write((tables) => work.retire(tables, request))
  }

  async turn(request: Turn) {
    const apply = (tables: Tables) => work.turn(tables, request)
    return request.finished.length > 0 ? this.#write(apply) : this.#read(apply)
  }

  async nextRunAt(_request: { now: Instant }) {
    return this.#read(({ delayed }) => delayed.first?.runAt)
  }

  async expire(request: { now: Instant; deadline: Instant; limit: number }) {
    return this.#read((tables) => work.expire(tables, request))
  }

  async cancel(request: { run: RunId; now: Instant; reason: string }) {
    return this.#write((tables) => work.cancel(tables, request))
  }

  async retry(request: { run: RunId; now: Instant }) {
    return this.#write((tables) => work.retry(tables, request))
  }

  async log(lines: readonly LogLine[]) {
    this.#read((tables) => reading.log(tables, lines))
  }

  async hold(request: Parameters<Store['hold']>[0]) {
    return this.#write((tables) => holding.hold(tables, request))
  }

  async release(request: Parameters<Store['release']>[0]) {
    return this.#write((tables) => holding.release(tables, request))
  }

  async holds(filter: Parameters<Store['holds']>[0] = {}) {
    return this.#read((tables) => reading.holds(tables, filter))
  }

  async run(id: RunId) {
    return this.#read(({ runs }) => {
      const row = runs.get(id)
      return row === undefined ? undefined : reading.toRun(row)
    })
  }

  async runsByPrefix(prefix: string, limit: number) {
    return this.#read((tables) => reading.runsByPrefix(tables, prefix, limit))
  }

  async runs(filter: RunFilter) {
    return this.#read((tables) => reading.runs(tables, filter))
  }

  async counts() {
    return this.#read(({ counts }) => ({ ...counts }))
  }

  async attempts(run: RunId) {
    return this.#read(({ runs }) => (runs.get(run)?.attempts ?? []).map((attempt) => ({ ...attempt })))
  }

  async logs({ run, after = 0, limit }: Parameters<Reading['logs']>[0]) {
    return this.#read(({ runs }) => {
      const lines = runs.get(run)?.log?.lines ?? []
      return lines.filter((line) => line.seq > after).slice(0, limit)
    })
  }

  async ledger(request: Parameters<Reading['ledger']>[0]) {
    return this.#read((tables) => reading.ledger(tables, request))
  }

  async runInstants(request: Parameters<Reading['runInstants']>[0]) {
    return this.#read((tables) => reading.runInstants(tables, request))
  }

  async workers() {
    return this.#read(reading.workers)
  }

  async prune(request: { before: Instant; limit: number; now: Instant }) {
    return this.#read((tables) => prune(tables, request))
  }

  async health(_request: { now: Instant }) {
    return this.#read(({ id, epoch, highestAt }) => {
      return { id, schemaVersion: 1, engine: 'memory', sizeBytes: undefined, epoch, highestAt, faults: [] }
    })
  }

  watch(hint: () => void): () => void {
    this.#tables.watchers.add(hint)
    this.#watched.add(hint)
    return () => {
      this.#tables.watchers.delete(hint)
      this.#watched.delete(hint)
    }
  }

  async close() {
    this.#isClosed = true
    for (const hint of this.#watched) this.#tables.watchers.delete(hint)
  }

  #read<T>(ask: (tables: Tables) => T): T {
    if (this.#isClosed) throw new RotaError('STORE_CLOSED', 'The memory store was used after it was closed')
    return ask(this.#tables)
  }

  /** What may make something due or claimable: every watcher hears of it, once for all writes of one moment. */
  #write<T>(apply: (tables: Tables) => T): T {
    const answer = this.#read(apply)
    const tables = this.#tables
    if (!tables.isHinting && tables.watchers.size > 0) {
      tables.isHinting = true
      queueMicrotask(() => {
        tables.isHinting = false
        for (const hint of tables.watchers) hint()
      })
    }
    return answer
  }
}
