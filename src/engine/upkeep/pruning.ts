import { KeptRuns, type EndedRun, type JobRetention } from '../../kernel/job/retention.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Events } from '../events.js'
import { forgetFreeKeys } from './forget-free-keys.js'
import { forgetRequests } from './forget-requests.js'
import { auditKept } from './kept.js'
import { countedUntil } from './roll-up.js'

/** What pruning needs. */
export interface PruningOptions {
  readonly store: Store
  readonly now: () => Instant
  readonly events: Events
  /** The retention of final runs whose job has none of its own. */
  readonly retentionMs: () => number
}

const pruneBatch = 1000
const pruneEveryMs = 3_600_000

/** Reads all final runs, from the newest on, page by page. */
interface Sweep {
  readonly kept: KeptRuns
  /** Runs that ended later are not in the roll-ups yet, so they stay. */
  readonly before: Instant
  last: EndedRun | undefined
}

/** Removes history whose retention is over, a part with each step. */
export class Pruning {
  readonly #options: PruningOptions
  #againAt: Instant = 0
  #sweep: Sweep | undefined

  constructor(options: PruningOptions) {
    this.#options = options
  }

  /** Takes one step; returns whether there is more to do now. */
  async step(): Promise<boolean> {
    const { store, now } = this.#options
    const at = now()
    if (this.#options.retentionMs() === Infinity || at < this.#againAt) return false
    if (await this.#pruneRuns(at)) return true
    const audited = await store.pruneAudit({
      before: at - auditKept.ms,
      keep: auditKept.most,
      limit: pruneBatch,
    })
    if (audited === pruneBatch) return true
    await forgetRequests(store, at)
    await forgetFreeKeys(store, at)
    this.#againAt = at + pruneEveryMs
    return false
  }

  async #pruneRuns(at: Instant): Promise<boolean> {
    this.#sweep ??= await this.#newSweep(at)
    if (this.#sweep !== undefined) return await this.#continue(this.#sweep, at)
    const before = Math.min(at - this.#options.retentionMs(), countedUntil(at))
    const pruned = await this.#options.store.prune({ before, limit: pruneBatch, now: at })
    this.#tell(before, pruned)
    return pruned === pruneBatch
  }

  /** Needed only if a job has its own retention: otherwise the oldest runs are removed first. */
  async #newSweep(now: Instant): Promise<Sweep | undefined> {
    const jobs = await this.#options.store.jobs()
    const rules = new Map(
      jobs.flatMap(({ job: { name, retention } }): [string, JobRetention][] =>
        retention === undefined ? [] : [[name, retention]],
      ),
    )
    if (rules.size === 0) return undefined
    const kept = new KeptRuns({ rules, defaultMs: this.#options.retentionMs(), now })
    return { kept, before: countedUntil(now), last: undefined }
  }

  async #continue(sweep: Sweep, at: Instant): Promise<boolean> {
    const { store } = this.#options
    const { kept, before } = sweep
    const page = await store.endedRuns({ after: sweep.last, limit: pruneBatch })
    const over = page.filter((run) => kept.isOver(run) && run.finishedAt < before)
    const isLast = page.length < pruneBatch
    // The last page calls it even without runs, since pruning also removes other data.
    if (over.length > 0 || isLast) {
      const runs = over.map(({ id }) => id)
      this.#tell(before, await store.prune({ before, limit: pruneBatch, now: at, runs }))
    }
    sweep.last = page.at(-1)
    if (isLast) this.#sweep = undefined
    return !isLast
  }

  #tell(before: Instant, count: number): void {
    if (count === 0) return
    const details = { before, count }
    this.#options.events.emit('operation', { operation: 'prune', target: 'runs', outcome: 'pruned', details })
  }
}
