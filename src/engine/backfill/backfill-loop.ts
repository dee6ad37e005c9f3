import type { Backfill } from '../../kernel/backfill/backfill.js'
import { runAtOf } from '../../kernel/backfill/pace.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../feature-loop.js'
import type { Look } from '../loop.js'
import type { BackfillKinds } from './backfill-kind.js'
import { cancelBackfill, isInProgress, performStep } from './perform-backfill.js'
import { listBackfills, removeBackfill, type StoredBackfill } from './stored-backfills.js'

/** How long a plan that nobody starts is kept. */
const planKeptMs = 7 * DAY_MS

/** How long one that was started or cancelled is kept. */
const keptMs = 90 * DAY_MS

/** The pause after another process was found at the same step. */
const otherAtItMs = 100

/** The interval of the clean-up. */
const cleanUpMs = HOUR_MS

/** Continues backfills whose process died while it started or cancelled them. Runs in every scheduler process. */
export function backfillLoop(kinds: BackfillKinds): FeatureLoop {
  return { name: 'backfills', begin: (context) => new BackfillLoop(context, kinds) }
}

class BackfillLoop implements RunningLoop {
  readonly #context: FeatureLoopContext
  readonly #kinds: BackfillKinds

  constructor(context: FeatureLoopContext, kinds: BackfillKinds) {
    this.#context = context
    this.#kinds = kinds
  }

  async step(): Promise<Look> {
    const { store, clock, onRuns } = this.#context
    const now = clock.now()
    const all = await listBackfills(store)
    // Other processes handle the kinds that this one does not know.
    const known = all.filter(({ backfill }) => this.#kinds.some(({ of }) => backfill[of] !== null))
    const next = known.filter(({ backfill }) => isInProgress(backfill)).at(-1)
    if (next === undefined) return await this.#cleanUp(all, now)
    const answer = await this.#perform(next, now)
    if (answer === 'stale') return { afterMs: otherAtItMs }
    onRuns()
    return { afterMs: 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two looks.
  }

  /** Cancels a backfill whose runs cannot be created because its job was removed: it would be tried forever. */
  async #perform(next: StoredBackfill, now: Instant): Promise<'moved' | 'stale'> {
    const { store } = this.#context
    const kinds = this.#kinds
    try {
      return await performStep(store, next, { kinds, now })
    } catch (error) {
      if (!(error instanceof RotaError) || error.code.startsWith('STORE_')) throw error
      await cancelBackfill(store, { kinds, id: next.backfill.id, now })
      return 'moved'
    }
  }

  async #cleanUp(all: readonly StoredBackfill[], now: Instant): Promise<Look> {
    for (const stored of all.filter(({ backfill }) => isOld(backfill, now)))
      if (!(await this.#isOpen(stored.backfill))) await removeBackfill(this.#context.store, stored, now)
    return { afterMs: cleanUpMs }
  }

  /** Whether it has unfinished runs, which `rota backfill` must still be able to cancel. */
  async #isOpen({ id }: Backfill): Promise<boolean> {
    const labels = { backfill: id }
    const open = { state: ['pending', 'running'], origin: 'backfill', labels, limit: 1 } as const
    return (await this.#context.store.runs(open)).length > 0
  }
}

/** Whether it can be removed. A pace may spread its runs over a longer time than others are kept. */
function isOld(backfill: Backfill, now: Instant): boolean {
  const { state, createdAt, startedAt, total } = backfill
  if (state === 'planned') return createdAt < now - planKeptMs
  const lastAt = state === 'started' ? runAtOf(backfill, total) : (startedAt ?? createdAt)
  return lastAt < now - keptMs
}
