import type { Fact } from '../../kernel/run/fact.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { LogLine } from '../../kernel/run/run.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'
import type {
  DefineJobs,
  DefineTrigger,
  Expiry,
  Reading,
  RunFilter,
  Store,
  TriggerFilter,
  Turn,
  WorkerEntry,
} from '../port.js'
import * as definitions from './definitions.js'
import { facts, takeFact } from './facts.js'
import * as holding from './holds.js'
import * as noting from './state.js'
import * as planning from './planning.js'
import { prune } from './prune.js'
import * as reading from './reading.js'
import { compareText, type Tables } from './tables.js'
import * as work from './work.js'

/** How a store lets its verbs at the tables. Each function runs to its end before another begins. */
export interface TableAccess {
  /** Asks something that changes nothing. */
  readonly read: <T>(ask: (tables: Tables) => T) => T | Promise<T>
  /** Changes something through which nothing becomes due or claimable. */
  readonly change: <T>(apply: (tables: Tables) => T) => T | Promise<T>
  /** Changes something through which something may become due or claimable: whoever watches hears of it. */
  readonly write: <T>(apply: (tables: Tables) => T) => T | Promise<T>
}

/** The verbs that need nothing but the tables. */
export type TableVerbs = Omit<Store, 'url' | 'watch' | 'health' | 'close'>

/** The verbs of the port over tables, however those are kept. */
export function tableVerbs({ read, change, write }: TableAccess): TableVerbs {
  return {
    async defineJobs(request: DefineJobs) {
      return write((tables) => definitions.defineJobs(tables, request))
    },

    async defineTriggers(batch: readonly DefineTrigger[]) {
      return write((tables) => batch.map((item) => definitions.defineTrigger(tables, item)))
    },

    async jobs() {
      return read(({ jobs }) => [...jobs.values()].toSorted((a, b) => compareText(a.job.name, b.job.name)))
    },

    async removeJobs(names: readonly string[]) {
      return write((tables) => definitions.removeJobs(tables, names))
    },

    async queues() {
      return read(reading.queues)
    },

    async triggers(filter: TriggerFilter = {}) {
      return read((tables) => definitions.triggers(tables, filter))
    },

    async fingerprints(source: string) {
      return read((tables) => definitions.fingerprints(tables, source))
    },

    async versions(trigger: string) {
      return read(({ triggers }) =>
        (triggers.get(trigger)?.versions ?? []).map((version) => ({ ...version })),
      )
    },

    async due(request: Parameters<Store['due']>[0]) {
      return read((tables) => planning.due(tables, request))
    },

    async dueByName(request: { names: readonly string[]; now: Instant }) {
      return read((tables) => planning.dueByName(tables, request))
    },

    async tick(batch: readonly Tick[]) {
      return write((tables) => batch.map((item) => planning.tick(tables, item)))
    },

    async nextTickAt(request: Parameters<Store['nextTickAt']>[0]) {
      return read((tables) => planning.nextTickAt(tables, request))
    },

    async seen(request: Parameters<Store['seen']>[0]) {
      return read((tables) => noting.seen(tables, request))
    },

    async forgetSeen(request: Parameters<Store['forgetSeen']>[0]) {
      return change((tables) => noting.forgetSeen(tables, request))
    },

    async enqueue(request: Parameters<Store['enqueue']>[0]) {
      return write((tables) => work.enqueue(tables, request))
    },

    async register(worker: WorkerEntry) {
      await write((tables) => work.register(tables, worker))
    },

    async heartbeat(request: { worker: string; now: Instant; leaseMs: number }) {
      // Nothing becomes due or claimable through it, so nobody is woken.
      return change((tables) => work.heartbeat(tables, request))
    },

    async drain(request: { worker: string; isDraining: boolean }) {
      return write((tables) => work.drain(tables, request))
    },

    async retire(request: { worker: string; now: Instant }) {
      await write((tables) => work.retire(tables, request))
    },

    async turn(request: Turn) {
      const apply = (tables: Tables) => work.turn(tables, request)
      return request.finished.length > 0 ? write(apply) : change(apply)
    },

    async expire(request: Expiry) {
      return change((tables) => work.expire(tables, request))
    },

    async cancel(request: { run: RunId; now: Instant; reason: string }) {
      return write((tables) => work.cancel(tables, request))
    },

    async retry(request: { run: RunId; now: Instant }) {
      return write((tables) => work.retry(tables, request))
    },

    async advance(request: { run: RunId; now: Instant }) {
      return write((tables) => work.advance(tables, request))
    },

    async log(lines: readonly LogLine[]) {
      await change((tables) => reading.log(tables, lines))
    },

    async hold(request: Parameters<Store['hold']>[0]) {
      return write((tables) => holding.hold(tables, request))
    },

    async release(request: Parameters<Store['release']>[0]) {
      return write((tables) => holding.release(tables, request))
    },

    async holds(filter: Parameters<Store['holds']>[0] = {}) {
      return read((tables) => reading.holds(tables, filter))
    },

    async stateEntries(filter: Parameters<Store['stateEntries']>[0]) {
      return read((tables) => noting.notes(tables, filter))
    },

    async changeState(request: Parameters<Store['changeState']>[0]) {
      return change((tables) => noting.changeState(tables, request))
    },

    async facts(request: Parameters<Store['facts']>[0]) {
      return read((tables) => facts(tables, request))
    },

    async takeFacts(batch: readonly Fact[]) {
      await write((tables) => {
        for (const fact of batch) {
          if (fact.kind === 'log') reading.log(tables, fact.lines)
          else takeFact(tables, fact)
        }
      })
    },

    async run(id: RunId) {
      return read(({ runs }) => {
        const row = runs.get(id)
        return row === undefined ? undefined : reading.toRun(row)
      })
    },

    async runsByPrefix(prefix: string, limit: number) {
      return read((tables) => reading.runsByPrefix(tables, prefix, limit))
    },

    async runs(filter: RunFilter) {
      return read((tables) => reading.runs(tables, filter))
    },

    async counts() {
      return read(({ counts }) => ({ ...counts }))
    },

    async attempts(run: RunId) {
      return read(({ runs }) => (runs.get(run)?.attempts ?? []).map((attempt) => ({ ...attempt })))
    },

    async logs({ run, after = 0, limit }: Parameters<Reading['logs']>[0]) {
      return read(({ runs }) => {
        const lines = runs.get(run)?.log?.lines ?? []
        return lines.filter((line) => line.seq > after).slice(0, limit)
      })
    },

    async ledger(request: Parameters<Reading['ledger']>[0]) {
      return read((tables) => reading.ledger(tables, request))
    },

    async runInstants(request: Parameters<Reading['runInstants']>[0]) {
      return read((tables) => reading.runInstants(tables, request))
    },

    async workers() {
      return read(reading.workers)
    },

    async signsOf(request: Parameters<Reading['signsOf']>[0]) {
      return read((tables) => reading.signsOf(tables, request))
    },

    async prune(request: { before: Instant; limit: number; now: Instant }) {
      return change((tables) => prune(tables, request))
    },
  }
}
