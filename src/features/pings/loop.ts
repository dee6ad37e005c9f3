/**
 * From the entries of runs to the runs that send pings. The ids of the latter follow from the run and the kind of ping,
 * and an entry changes only after they are enqueued. After a kill in between, the next step repeats the same, so no ping
 * is enqueued twice.
 */
import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../engine/feature-loop.js'
import type { Look } from '../../engine/loop.js'
import { boundText } from '../../kernel/definition/bounds.js'
import type { Json } from '../../kernel/definition/json.js'
import { runIdOf } from '../../kernel/identity/identity.js'
import { nextPing, openPingOf } from '../../kernel/ping/ping.js'
import type { NewRun, Run } from '../../kernel/run/run.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { definePingJob, pingJob, pingSlots, type PingPayload } from './job.js'

/** How many runs one step reads. */
const most = 200

/** How much of an error is sent. */
const longestError = 1000

/** How long the loop sleeps if it found nothing; the slow poll wakes it earlier. */
const restMs = 60_000

/** Finds runs that began or ended, in every process with the scheduler role. */
export const pingLoop: FeatureLoop = { name: 'pings', begin: (context) => new PingLoop(context) }

class PingLoop implements RunningLoop {
  readonly #context: FeatureLoopContext
  /** The last entry of the previous page: if there are more entries than one step reads, the next step continues there. */
  #after: StateEntry | undefined
  #isDefined = false

  constructor(context: FeatureLoopContext) {
    this.#context = context
  }

  async step(): Promise<Look> {
    const { store, guard, onRuns } = this.#context
    const now = guard.now()
    const entries = await store.stateEntries({ kind: 'ping', after: this.#after, limit: most })
    const wasFirst = this.#after === undefined
    this.#after = entries.length === most ? entries.at(-1) : undefined
    if (entries.length === 0) return { afterMs: wasFirst ? restMs : 0 }
    const found = await store.runsById(entries.map(({ name }) => name))
    const byId = new Map(found.map((run) => [run.id, run]))
    const planned = entries.map((entry) => planOf(entry, byId.get(entry.name)))
    const pings = planned.flatMap(({ ping }) => ping ?? [])
    const runs = pings.length === 0 ? [] : await this.#runsOf(pings, now)
    if (runs.length > 0) {
      await this.#define(now)
      await store.enqueue({ runs, now })
      onRuns()
    }
    // Each in its own transaction: another process may already have handled some of them.
    for (const { change } of planned)
      if (change !== undefined) await store.changeState({ changes: [change], now })
    return { afterMs: this.#after === undefined ? restMs : 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two steps.
  }

  /** The runs that send pings; those of triggers that were added at run time must not reach private addresses. */
  async #runsOf(pings: readonly Ping[], now: Instant): Promise<NewRun[]> {
    const names = [...new Set(pings.map(({ payload }) => payload.trigger))]
    const found = await this.#context.store.triggersPage({ order: 'name', limit: names.length, names })
    const own = new Set(found.filter(({ source }) => source !== 'api').map(({ trigger }) => trigger.name))
    return pings.map(({ payload, run }) => {
      const isFromApi = !own.has(payload.trigger)
      return pingRun({ ...payload, ...(isFromApi ? { isFromApi } : {}) }, run, now)
    })
  }

  async #define(now: Instant): Promise<void> {
    if (!this.#isDefined) await definePingJob(this.#context.store, now)
    this.#isDefined = true
  }
}

interface Ping {
  readonly payload: PingPayload
  readonly run: Run
}

interface Planned {
  readonly ping: Ping | undefined
  readonly change: StateChange | undefined
}

function planOf(entry: StateEntry, run: Run | undefined): Planned {
  const open = openPingOf(entry)
  const { kind, isOver } = nextPing(open, run)
  const { name, item, revision } = entry
  const key = { kind: 'ping', name, item, revision } as const
  if (kind === undefined || run === undefined)
    return { ping: undefined, change: isOver ? { ...key, value: undefined } : undefined }
  const { url, trigger } = open
  const error = kind === 'fail' ? (run.error?.message ?? run.reason) : undefined
  const reason = error === undefined ? {} : { error: boundText(error, longestError) }
  const payload: PingPayload = { kind, url, trigger, run: run.id, ...reason }
  const value = isOver ? undefined : ({ ...open, isStarted: true } as unknown as Json)
  return { ping: { payload, run }, change: { ...key, value } }
}

function pingRun(payload: PingPayload, { id, dueAt }: Run, now: Instant): NewRun {
  return {
    id: runIdOf({ at: dueAt, parts: ['ping', id, payload.kind] }),
    job: pingJob,
    origin: 'enqueue',
    dueAt: now,
    runAt: now,
    priority: 0,
    slots: pingSlots(id),
    payload: payload as unknown as Json,
  }
}
