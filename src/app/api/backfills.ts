import type { BackfillStatus } from '../../engine/backfill/progress.js'
import type { InstantsPlan } from '../../engine/backfill/plan-instants.js'
import type { BackfillFilter } from '../../engine/backfill/stored-backfills.js'
import type { TriggerBackfillOptions } from '../../engine/backfill/trigger-plan.js'
import type { AppContext } from '../../features/app-context.js'
import type { Backfill } from '../../kernel/backfill/backfill.js'
import { splitChange, type ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Json } from '../../kernel/definition/json.js'
import { loadBackfillKinds, loadTriggerKinds } from '../features.js'

/** What a backfill of a trigger runs and skips; and the backfill, unless it is a dry run or has nothing to run. */
export interface TriggerBackfill extends InstantsPlan {
  readonly backfill: Backfill | undefined
}

/** `app.backfills`: backfills of triggers and of assets. */
export class Backfills {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Backfills with their progress, newest first: at most 20 by default. */
  async list({
    limit = 20,
    ...filter
  }: BackfillFilter & { readonly limit?: number | undefined } = {}): Promise<readonly BackfillStatus[]> {
    const { listBackfills } = await import('../../engine/backfill/stored-backfills.js')
    const store = await this.#context.store()
    const newest = (await listBackfills(store, filter)).slice(0, limit)
    return await Promise.all(newest.map(({ backfill }) => this.#status(backfill)))
  }

  /** One backfill and its progress. */
  async get(id: string): Promise<BackfillStatus> {
    const { findBackfill } = await import('../../engine/backfill/stored-backfills.js')
    return await this.#status((await findBackfill(await this.#context.store(), id)).backfill)
  }

  /** Starts a planned backfill. If it was already started, nothing changes. */
  async start(id: string, options: ChangeOptions = {}): Promise<Backfill> {
    const { startBackfill } = await import('../../engine/backfill/perform-backfill.js')
    const { findBackfill } = await import('../../engine/backfill/stored-backfills.js')
    const kinds = await loadBackfillKinds()
    const asked = {
      operation: 'start backfill',
      target: id,
      outcome: ({ state }: Backfill) => state,
      options,
      audit: { action: 'backfill.start', subjects: [await this.#subject(id)] },
      needsJobs: true,
    }
    return await this.#context.change(asked, async (store, now) => {
      if (options.dryRun !== true) return await startBackfill(store, { kinds, id, now })
      return { ...(await findBackfill(store, id)).backfill, state: 'started' }
    })
  }

  /** Cancels a backfill: its pending runs are cancelled, its running ones are asked to stop, and no more begin. */
  async cancel(id: string, options: ChangeOptions = {}): Promise<Backfill> {
    const { cancelBackfill } = await import('../../engine/backfill/perform-backfill.js')
    const kinds = await loadBackfillKinds()
    const asked = {
      operation: 'cancel backfill',
      target: id,
      outcome: ({ state }: Backfill) => state,
      options,
      audit: { action: 'backfill.cancel', subjects: [await this.#subject(id)] },
    }
    return await this.#context.change(asked, async (store, now) => {
      if (options.dryRun !== true) return await cancelBackfill(store, { kinds, id, now })
      const { done, failed, left: _, ...backfill } = await this.get(id)
      return { ...backfill, state: 'cancelled', cancelledRuns: backfill.started - done - failed }
    })
  }

  /** Refuses an unknown id before anything is recorded. */
  async #subject(id: string) {
    const { backfillKey, findBackfill } = await import('../../engine/backfill/stored-backfills.js')
    await findBackfill(await this.#context.store(), id)
    return { kind: 'state', key: backfillKey(id) } as const
  }

  async #status(backfill: Backfill): Promise<BackfillStatus> {
    const { withProgress } = await import('../../engine/backfill/progress.js')
    return await withProgress(await this.#context.store(), backfill, await loadBackfillKinds())
  }
}

/** Plans a backfill of a trigger and stores it, so that it can be started; with `start` it starts immediately. */
export async function backfillTrigger(
  context: AppContext,
  trigger: string,
  given: TriggerBackfillOptions & ChangeOptions & { readonly start?: boolean | undefined },
): Promise<TriggerBackfill> {
  const { planTriggerBackfill } = await import('../../engine/backfill/trigger-plan.js')
  const { storeBackfill } = await import('../../engine/backfill/stored-backfills.js')
  const { startBackfill } = await import('../../engine/backfill/perform-backfill.js')
  const kinds = await loadTriggerKinds()
  const { change, rest } = splitChange(given)
  const { start = false, ...options } = rest
  const asked = {
    operation: 'backfill',
    target: trigger,
    outcome: ({ backfill }: TriggerBackfill) => backfill?.state ?? 'nothing to make',
    details: ({ backfill }: TriggerBackfill) => ({ id: backfill?.id ?? null, runs: backfill?.total ?? 0 }),
    options: change,
    audit: {
      action: start ? 'backfill.start' : 'backfill.plan',
      target: `trigger:${trigger}`,
      subjects: [],
      after: JSON.parse(JSON.stringify(options)) as Json,
    },
    needsJobs: true,
  }
  return await context.change(asked, async (store, now) => {
    const { run, skip, items, backfill } = await planTriggerBackfill(store, { kinds, trigger, options, now })
    if (change.dryRun === true || items.length === 0) return { run, skip, backfill: undefined }
    const { by = context.author.by, reason = context.author.reason ?? null } = change
    const stored = await storeBackfill(store, { ...backfill, by, reason, items, now })
    if (!start) return { run, skip, backfill: stored }
    return {
      run,
      skip,
      backfill: await startBackfill(store, { kinds: await loadBackfillKinds(), id: stored.id, now }),
    }
  })
}
