import type { Store } from '../port.js'
import { auditPage, pruneAudit } from './audit/entries.js'
import * as definitions from './definitions.js'
import { facts, takeFact } from './facts.js'
import { hold, release } from './holds.js'
import { countRuns, runsPage } from './runs/list-runs.js'
import * as overview from './overview.js'
import * as planning from './planning.js'
import { endedRuns, prune } from './prune.js'
import * as reading from './reading.js'
import { late, series } from './overview/series.js'
import { changeState, forgetSeen, seen, stateEntries, stateTally } from './state.js'
import { compareText, type TableAccess, type Tables } from './tables.js'
import * as work from './work.js'

/** The methods of the port that need nothing but the tables. */
export type TableVerbs = Omit<Store, 'url' | 'watch' | 'health' | 'close' | 'audited'>

/** Implements those methods over tables, however those are kept. */
export function tableVerbs({ read, change, write }: TableAccess): TableVerbs {
  return {
    defineJobs: async (request) => write((tables) => definitions.defineJobs(tables, request)),
    defineTriggers: async (batch) =>
      write((tables) => batch.map((item) => definitions.defineTrigger(tables, item))),
    removeJobs: async (names) => write((tables) => definitions.removeJobs(tables, names)),
    triggers: async (filter = {}) => read((tables) => definitions.triggers(tables, filter)),
    sources: async () => read(definitions.sources),
    fingerprints: async (source) => read((tables) => definitions.fingerprints(tables, source)),
    versions: async (trigger) =>
      read(({ triggers }) => (triggers.get(trigger)?.versions ?? []).map((version) => ({ ...version }))),

    due: async (request) => read((tables) => planning.due(tables, request)),
    dueByName: async (request) => read((tables) => planning.dueByName(tables, request)),
    tick: async (batch) => write((tables) => batch.map((item) => planning.tick(tables, item))),
    nextTickAt: async (request) => read((tables) => planning.nextTickAt(tables, request)),
    seen: async (request) => read((tables) => seen(tables, request)),
    forgetSeen: async (request) => change((tables) => forgetSeen(tables, request)),

    enqueue: async (request) => write((tables) => work.enqueue(tables, request)),
    register: async (worker) => write((tables) => work.register(tables, worker)),
    heartbeat: async (request) => change((tables) => work.heartbeat(tables, request)),
    drain: async (request) => write((tables) => work.drain(tables, request)),
    retire: async (request) => write((tables) => work.retire(tables, request)),
    turn: async (request) => {
      const apply = (tables: Tables) => work.turn(tables, request)
      return request.finished.length > 0 ? write(apply) : change(apply)
    },
    expire: async (request) => change((tables) => work.expire(tables, request)),
    cancel: async (request) => write((tables) => work.cancel(tables, request)),
    retry: async (request) => write((tables) => work.retry(tables, request)),
    advance: async (request) => write((tables) => work.advance(tables, request)),
    changeRuns: async (request) => write((tables) => work.changeRuns(tables, request)),
    log: async (lines) => change((tables) => reading.log(tables, lines)),

    pulse: async () => read(overview.pulse),
    triggersPage: async (request) => read((tables) => overview.triggersPage(tables, request)),
    recentRuns: async (request) => read((tables) => overview.recentRuns(tables, request)),
    lanes: async (request) => read((tables) => overview.lanes(tables, request)),
    tally: async (request) => read((tables) => overview.tally(tables, request)),
    ledgerPage: async (request) => read((tables) => overview.ledgerPage(tables, request)),
    countRuns: async (filter, atMost) => read((tables) => countRuns(tables, filter, atMost)),
    troubled: async (request) => read((tables) => overview.troubled(tables, request)),
    series: async (request) => read((tables) => series(tables, request)),
    late: async (request) => read((tables) => late(tables, request)),
    stateTally: async (request) => read((tables) => stateTally(tables, request)),

    hold: async (request) => write((tables) => hold(tables, request)),
    release: async (request) => write((tables) => release(tables, request)),
    holds: async (filter = {}) => read((tables) => reading.holds(tables, filter)),
    stateEntries: async (filter) => read((tables) => stateEntries(tables, filter)),
    changeState: async (request) => change((tables) => changeState(tables, request)),
    facts: async (request) => read((tables) => facts(tables, request)),
    takeFacts: async (batch) =>
      write((tables) => {
        for (const fact of batch) {
          if (fact.kind === 'log') reading.log(tables, fact.lines)
          else takeFact(tables, fact)
        }
      }),
    auditPage: async (filter) => read((tables) => auditPage(tables, filter)),
    pruneAudit: async (request) => change((tables) => pruneAudit(tables, request)),
    prune: async (request) => change((tables) => prune(tables, request)),
    endedRuns: async (request) => read((tables) => endedRuns(tables, request)),

    jobs: async () =>
      read(({ jobs }) => [...jobs.values()].toSorted((a, b) => compareText(a.job.name, b.job.name))),
    queues: async () => read(reading.queues),
    workers: async () => read(reading.workers),
    signsOf: async (request) => read((tables) => reading.signsOf(tables, request)),
    run: async (id) =>
      read(({ runs }) => {
        const row = runs.get(id)
        return row === undefined ? undefined : reading.toRun(row)
      }),
    runsById: async (ids) => read((tables) => reading.runsById(tables, ids)),
    runsByPrefix: async (prefix, limit) => read((tables) => reading.runsByPrefix(tables, prefix, limit)),
    runs: async (filter) => read((tables) => runsPage(tables, filter).runs),
    runsPage: async (filter) => read((tables) => runsPage(tables, filter)),
    counts: async () => read(({ counts }) => ({ ...counts })),
    attempts: async (run) =>
      read(({ runs }) => (runs.get(run)?.attempts ?? []).map((attempt) => ({ ...attempt }))),
    logs: async ({ run, after = 0, limit }) =>
      read(({ runs }) => {
        const lines = runs.get(run)?.log?.lines ?? []
        return lines.filter((line) => line.seq > after).slice(0, limit)
      }),
    ledger: async (request) => read((tables) => reading.ledger(tables, request)),
    runInstants: async (request) => read((tables) => reading.runInstants(tables, request)),
  }
}
