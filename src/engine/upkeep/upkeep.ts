import { decide } from '../../kernel/run/outcome.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Finished, LostClaim, Store } from '../../store/port.js'
import type { Events } from '../events.js'
import type { Look } from '../loop.js'
import { noteLostWorkers } from '../notices.js'
import { Pruning } from './pruning.js'
import { forgetDays, rollUp } from './roll-up.js'

/** What upkeep needs. */
export interface UpkeepOptions {
  readonly store: Store
  readonly now: () => Instant
  readonly events: Events
  /** For how long the clock was steady and leases could be renewed: a worker with a longer lease is not judged yet. */
  readonly steadyMs: () => number
  /** How long after its end a lease counts as expired, since the clocks of hosts may differ. */
  readonly leaseSlackMs?: number | undefined
  /** How often it looks for dead workers. */
  readonly everyMs: number
  /** Present if the loop is woken after commits: upkeep then looks no more often because of that, and rests until the first lease can expire. */
  readonly woken?: { readonly clock: Clock } | undefined
  /** Whether past hours are rolled up; default: true. */
  readonly countsHours?: boolean | undefined
  /** The retention of final runs whose job has none of its own. */
  readonly retentionMs: () => number
  /** Lost runs are claimable again. */
  readonly onRuns: () => void
}

const lostBatch = 200
const rollUpEveryMs = 600_000

/** Takes over claims of dead workers, rolls up past hours, and prunes old history. */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #pruning: Pruning
  #rollUpAt: Instant = 0
  #notBeforeMs = -Infinity
  /** The workers of the last look. */
  #known: ReadonlySet<string> = new Set()

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#pruning = new Pruning(options)
  }

  async step(): Promise<Look> {
    const { woken, everyMs } = this.#options
    const restMs = woken === undefined ? 0 : this.#notBeforeMs - woken.clock.monotonicMs()
    if (restMs > 0) return { afterMs: restMs }
    const takenOver = await this.#takeOver()
    const isRolledUp = await this.#rollUp()
    // A run is counted before it is pruned.
    const isPruning = isRolledUp && (await this.#pruning.step())
    const hasMore = takenOver === lostBatch || !isRolledUp || isPruning
    if (hasMore) return { afterMs: 0 }
    if (woken === undefined) return { afterMs: everyMs }
    this.#notBeforeMs = woken.clock.monotonicMs() + everyMs
    return await this.#nextLook()
  }

  /** No lease expires before the first of those that are known: leases are only renewed, and a new one is a commit. */
  async #nextLook(): Promise<Look> {
    const { store, now, everyMs, leaseSlackMs = 0, steadyMs } = this.#options
    if (steadyMs() === 0) return { afterMs: everyMs }
    const workers = await store.workers()
    const known = this.#known
    this.#known = new Set(workers.map(({ id }) => id))
    // The first lease of a worker may be longer than those that follow.
    if (workers.some(({ id }) => !known.has(id))) return { afterMs: everyMs }
    const at = Math.min(...workers.map(({ leaseUntil }) => leaseUntil)) + leaseSlackMs + 1
    return at > now() + everyMs ? { at } : { afterMs: everyMs }
  }

  /** Ends the claims of dead workers through the same decision as any other end. */
  async #takeOver(): Promise<number> {
    const { store, now, onRuns, leaseSlackMs = 0 } = this.#options
    const steadyMs = this.#options.steadyMs()
    if (steadyMs === 0) return 0
    const at = now()
    const longestMs = Math.min(Math.ceil(steadyMs) - 1, Number.MAX_SAFE_INTEGER)
    const deadline = at - leaseSlackMs
    await noteLostWorkers(store, {
      now: at,
      isLost: ({ leaseUntil, lastBeatAt = 0 }) =>
        leaseUntil < deadline && leaseUntil - lastBeatAt <= longestMs,
    })
    const lost = await store.expire({ now: at, deadline, longestMs, limit: lostBatch })
    if (lost.length === 0) return 0
    const finished = lost.map((claim) => ended(claim, at))
    // Without a worker: the notices of a worker are delivered once, and only the worker itself may get them.
    const answer = await store.turn({ worker: '', now: at, finished, claimRequest: undefined })
    for (const [index, claim] of lost.entries()) {
      const state = finished[index]?.outcome.state ?? 'pending'
      if (answer.finished[index] === 'stored') this.#tell(claim, state)
    }
    onRuns()
    return lost.length
  }

  #tell(claim: LostClaim, state: 'pending' | 'done' | 'failed' | 'cancelled'): void {
    const { run, attempt, worker, job } = claim
    this.#options.events.emit('run:lost', { run, attempt, worker, job: job.name, state })
  }

  /** Rolls up past hours; returns whether all of them are rolled up. */
  async #rollUp(): Promise<boolean> {
    const { store, now, countsHours = true } = this.#options
    const at = now()
    if (!countsHours || at < this.#rollUpAt) return true
    if ((await rollUp(store, at)) === 'more') return false
    if ((await forgetDays(store, at)) > 0) return false
    this.#rollUpAt = at + rollUpEveryMs
    return true
  }
}

function ended(claim: LostClaim, at: Instant): Finished {
  const { run, dueAt, attempt, failures, crashes, job, worker } = claim
  const error = { code: 'LOST', message: `worker ${worker} disappeared during attempt ${attempt}` }
  const outcome = decide(
    { kind: 'lost', error },
    { run: { id: run, dueAt, failures, crashes }, job, now: at },
  )
  return { run, attempt, outcome, startedAt: undefined, endedAt: at }
}
