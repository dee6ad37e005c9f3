import {
  pendingReasons,
  rateName,
  ratesOfRun,
  type LiveWorker,
  type PendingReason,
  type WaitingFacts,
} from '../../kernel/run/pending.js'
import { rateStateOf, type RateState } from '../../kernel/job/rate-limit.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Run } from '../../kernel/run/run.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { liveProcesses, placeOf } from '../process/live-processes.js'

/** Why a run is not being performed yet; empty for one that is not pending. */
export async function whyPending(
  store: Store,
  { run, now }: { readonly run: Run; readonly now: Instant },
): Promise<readonly PendingReason[]> {
  if (run.state !== 'pending') return []
  const others = run.waitsFor === undefined ? [] : await besides(store, run)
  return pendingReasons(run, await readWaiting(store, { pending: [run, ...others], now }))
}

/** Why each of these runs that is pending is not being performed yet, by id. */
export async function whyAllPending(
  store: Store,
  { runs, now }: { readonly runs: readonly Run[]; readonly now: Instant },
): Promise<ReadonlyMap<RunId, readonly PendingReason[]>> {
  const pending = runs.filter((run) => run.state === 'pending')
  if (pending.length === 0) return new Map()
  const waiting = pending.some((run) => run.waitsFor !== undefined)
  const others = waiting ? await store.runs({ state: 'pending', limit: mostBeside }) : []
  const facts = await readWaiting(store, { pending: [...pending, ...others], now })
  return new Map(pending.map((run) => [run.id, pendingReasons(run, facts)]))
}

/** How many other waiting runs are read: enough for every realistic limit. */
const mostBeside = 200

/** How many running runs are read. */
const mostRunning = 1000

/** Unclaimed runs that may have taken the limit for which this one waits. */
async function besides(store: Store, { job, trigger, waitsFor }: Run): Promise<readonly Run[]> {
  const filter = waitsFor?.startsWith('trigger:') === true ? { trigger } : { job }
  return await store.runs({ ...filter, state: 'pending', limit: mostBeside })
}

/** Reads everything that may keep runs waiting, including pending runs that have taken their limits. */
export async function readWaiting(
  store: Store,
  { pending, now }: { readonly pending: readonly Run[]; readonly now: Instant },
): Promise<WaitingFacts> {
  const running = await store.runs({ state: 'running', limit: mostRunning })
  const taken = pending.filter((run) => hasTaken(run, now))
  const queues = await store.queues()
  const defined = {
    jobs: new Map((await store.jobs()).map((stored) => [stored.job.name, stored])),
    queues: new Map(queues.map((queue) => [queue.name, queue])),
  }
  return {
    now,
    ...defined,
    rates: await readRates(store, pending, defined),
    holds: await store.holds({ openAt: now }),
    workers: await liveWorkers(store, now),
    holding: [...new Map([...running, ...taken].map((run) => [run.id, run])).values()],
  }
}

/** The states of the rate limits of these runs. */
async function readRates(
  store: Store,
  runs: readonly Run[],
  defined: Pick<WaitingFacts, 'jobs' | 'queues'>,
): Promise<ReadonlyMap<string, RateState>> {
  const keys = runs.flatMap((run) => ratesOfRun(run, defined).map(({ entry }) => entry))
  if (keys.length === 0) return new Map()
  const names = [...new Set(keys.map(({ name }) => name))]
  const items = [...new Set(keys.map(({ item }) => item))]
  const entries = await store.stateEntries({ kind: 'rate', names, items, limit: names.length * items.length })
  return new Map(entries.map((entry) => [rateName(entry), rateStateOf(entry.value)]))
}

/** Whether an unclaimed run has taken its limits. */
function hasTaken({ slots, waitsFor, runAt }: Run, now: Instant): boolean {
  return slots.length > 0 && waitsFor === undefined && runAt <= now
}

async function liveWorkers(store: Store, now: Instant): Promise<readonly LiveWorker[]> {
  const live = (await store.workers()).filter(
    ({ roles, leaseUntil }) => roles.includes('worker') && leaseUntil >= now,
  )
  const functions = await functionsByPlace(store, live)
  return live.map((worker) => ({ ...worker, functions: functions.get(placeOf(worker)) }))
}

/** The functions of each process, by host and process id; several apps in one process are joined. */
async function functionsByPlace(
  store: Store,
  live: readonly WorkerStatus[],
): Promise<ReadonlyMap<string, ReadonlySet<string> | undefined>> {
  const found = new Map<string, Set<string> | undefined>()
  for (const process of await liveProcesses(store, live)) {
    const place = placeOf(process)
    const before = found.has(place) ? found.get(place) : new Set<string>()
    const isKnown = before !== undefined && process.functions !== undefined
    found.set(place, isKnown ? new Set([...before, ...process.functions]) : undefined)
  }
  return found
}
