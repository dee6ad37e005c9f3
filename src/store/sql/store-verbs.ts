import type { ChangeRecord } from '../../kernel/audit/audit.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { LedgerEntry, LedgerPage, TriggersPage } from '../overview.js'
import type { Store } from '../port.js'
import { SeriesRows } from '../series.js'
import { auditedDriver, auditPage, pruneAudit } from './audit.js'
import type { Driver } from './driver.js'
import { facts } from './facts/facts.js'
import { takeFacts } from './facts/take-facts.js'
import { inPieces, inTurns, itemsPerCommit } from './in-pieces.js'
import { ledgerPage } from './overview/ledger-page.js'
import { laneByLane, lanes, recentRuns } from './overview/marks.js'
import { late } from './overview/late.js'
import { pulse } from './overview/pulse.js'
import { seriesPart, type LastEnd } from './overview/series.js'
import { stateTallyPart } from './overview/state-tally.js'
import { tallyPart, TallyRows, type LanesLeft } from './overview/tally.js'
import { triggersPage } from './overview/triggers-page.js'
import { troubled } from './overview/troubled.js'
import { defineTriggers } from './planning/define.js'
import { defineJobs, removeJobs } from './planning/define-jobs.js'
import { due, dueByName, nextTickAt } from './planning/due.js'
import { hold, holds, release } from './planning/holds.js'
import { ledger } from './planning/ledger.js'
import { queues } from './planning/queues.js'
import { fingerprints, jobs, sources, triggers, versions } from './planning/read-definitions.js'
import { forgetSeen, seen } from './planning/seen-keys.js'
import { tick } from './planning/tick.js'
import { advance, cancel, retry } from './runs/cancel.js'
import { changeRuns } from './runs/change-runs.js'
import { enqueueAll } from './runs/enqueue.js'
import { runCount, runsPage } from './runs/look-on.js'
import { attempts, counts, run, runInstants, runsById, runsByPrefix } from './runs/read-runs.js'
import type { Session } from './session.js'
import { changeState, stateEntries } from './state.js'
import type { Verb } from './verb.js'
import { expire } from './runs/expire.js'
import { log, logs } from './runs/logs.js'
import { endedRuns, prune } from './runs/prune.js'
import { drain, register, retire, signsOf, workers } from './workers.js'

/** The methods of a store that are the same on every SQL database. */
export function storeVerbs({ commit, read }: Driver) {
  const commitInPieces = <Item, Answer>(
    batch: readonly Item[],
    verb: (session: Session, piece: readonly Item[]) => Verb<Answer[]>,
  ): Promise<readonly Answer[]> =>
    inPieces(batch, (piece) => commit((session) => verb(session, piece), { items: piece.length }))
  return {
    defineJobs: (request) =>
      commit((session) => defineJobs(session, request), {
        items: request.jobs.length,
        isExclusive: false,
      }),
    removeJobs: (names) => commit((session) => removeJobs(session, names)),
    jobs: () => read(jobs),
    queues: () => read(queues, { isSnapshot: true }),
    defineTriggers: (batch) => commitInPieces(batch, defineTriggers),
    triggers: (filter = {}) => read((session) => triggers(session, filter)),
    sources: () => read(sources),
    fingerprints: (source) => read((session) => fingerprints(session, source)),
    versions: (trigger) => read((session) => versions(session, trigger)),
    due: (request) => read((session) => due(session, request)),
    dueByName: (request) => read((session) => dueByName(session, request)),
    nextTickAt: (request) => read((session) => nextTickAt(session, request)),
    tick: (batch) =>
      inPieces(batch, (piece) =>
        commit((session) => tick(session, piece), {
          items: piece.length,
          isExclusive: piece.some(({ supersede }) => supersede !== undefined),
        }),
      ),
    seen: (request) => read((session) => seen(session, request)),
    forgetSeen: (request) => commit((session) => forgetSeen(session, request)),
    hold: (request) => commit((session) => hold(session, request)),
    release: (request) => commit((session) => release(session, request)),
    holds: (filter = {}) => read((session) => holds(session, filter)),
    stateEntries: (filter) => read((session) => stateEntries(session, filter)),
    changeState: (request) =>
      commit((session) => changeState(session, request), {
        items: 1 + request.changes.length,
        isExclusive: false,
      }),
    register: (worker) => commit((session) => register(session, worker), { isExclusive: false }),
    drain: (request) => commit((session) => drain(session, request), { isExclusive: false }),
    retire: (request) => commit((session) => retire(session, request)),
    expire: (request) => commit((session) => expire(session, request), { isExclusive: false }),
    workers: () => read(workers),
    signsOf: (request) => read((session) => signsOf(session, request)),
    log: async (lines) => {
      await inPieces(lines, async (piece) => {
        await commit((session) => log(session, piece), { items: piece.length, isExclusive: false })
        return []
      })
    },
    logs: (request) => read((session) => logs(session, request)),
    prune: async (request) => {
      let removed = 0
      for (;;) {
        const limit = Math.min(itemsPerCommit, request.limit - removed)
        const piece = await commit((session) => prune(session, { ...request, limit }), {
          items: limit,
          isExclusive: false,
        })
        removed += piece
        if (piece < limit || removed === request.limit) return removed
      }
    },
    endedRuns: (request) => read((session) => endedRuns(session, request)),
    cancel: (request) => commit((session) => cancel(session, request)),
    retry: (request) => commit((session) => retry(session, request)),
    advance: (request) => commit((session) => advance(session, request)),
    changeRuns: (request) =>
      commit((session) => changeRuns(session, request), {
        items: 1 + (request.action === 'record' ? request.newRuns : request.runs).length,
      }),
    run: (id) => read((session) => run(session, id)),
    runsById: (ids) => read((session) => runsById(session, ids)),
    runsByPrefix: (prefix, limit) => read((session) => runsByPrefix(session, prefix, limit)),
    runs: async (filter) => (await runsPage(read, filter)).runs,
    runsPage: (filter) => runsPage(read, filter),
    pulse: () => read(pulse),
    triggersPage: async (request) => {
      const found: StoredTrigger[] = []
      await inTurns<TriggersPage>(async (next) => {
        const part = await read((session) => triggersPage(session, next ?? request))
        if (request.before === undefined) found.push(...part.triggers)
        else found.unshift(...part.triggers)
        return part.next
      })
      return found
    },
    recentRuns: (request) =>
      laneByLane(request.triggers, (triggers) =>
        read((session) => recentRuns(session, { ...request, triggers })),
      ),
    lanes: (request) =>
      laneByLane(request.triggers, (triggers) => read((session) => lanes(session, { ...request, triggers }))),
    tally: async (request) => {
      const rows = new TallyRows(request)
      await inTurns<LanesLeft>((left) => read((session) => tallyPart(session, request, { left, rows })))
      return rows.rows()
    },
    ledgerPage: async (request) => {
      const found: LedgerEntry[] = []
      await inTurns<LedgerPage>(async (next) => {
        const part = await read((session) => ledgerPage(session, next ?? request))
        found.push(...part.entries)
        return part.next
      })
      return found
    },
    countRuns: (filter, atMost) => runCount(read, filter, atMost),
    troubled: (request) => read((session) => troubled(session, request)),
    series: async (request) => {
      const rows = new SeriesRows()
      await inTurns<LastEnd>((after) => read((session) => seriesPart(session, request, { after, rows })))
      return rows.rows()
    },
    late: (request) => read((session) => late(session, request)),
    stateTally: async (request) => {
      const counts = new Map<string, number>()
      await inTurns<string>((from) => read((session) => stateTallyPart(session, request, { from, counts })))
      return counts
    },
    counts: () => read(counts),
    attempts: (id) => read((session) => attempts(session, id)),
    runInstants: (request) => read((session) => runInstants(session, request)),
    facts: (request) => read((session) => facts(session, request), { isSnapshot: true }),
    auditPage: (filter) => read((session) => auditPage(session, filter)),
    pruneAudit: (request) =>
      commit((session) => pruneAudit(session, request), { items: request.limit, isExclusive: false }),
    takeFacts: (batch) => commit((session) => takeFacts(session, batch), { items: batch.length }),
    ledger: (request) => read((session) => ledger(session, request)),
  } satisfies Partial<Store>
}

/** The same methods, and `enqueue`, for a store whose changes are audited. */
export function auditedVerbs(driver: Driver, record: ChangeRecord) {
  const recorded = auditedDriver(driver, record)
  return {
    ...storeVerbs(recorded),
    enqueue: ({ runs, now }) =>
      inPieces(runs, (piece) =>
        recorded.commit(
          function* (session) {
            return (yield* enqueueAll(session, [{ runs: piece, now }]))[0] ?? []
          },
          { items: piece.length },
        ),
      ),
  } satisfies Partial<Store>
}
