import type { DryRun } from '../../../kernel/definition/dry-run.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { fingerprintOf } from '../../../kernel/identity/identity.js'
import { jobName, type AnyJob } from '../../../kernel/job/job-ref.js'
import type { AppContext } from '../../app-context.js'
import type { Backfill } from './backfill.js'
import type { BackfillOptions, BackfillStatus } from './backfills.js'
import type { BackfillPlan } from './choice.js'

/** Which partitions a backfill makes, and the backfill if it was started. */
export interface StartedBackfill extends BackfillPlan {
  /** A digest of what is made and in which order. */
  readonly plan: string
  readonly backfill: Backfill | undefined
}

/** `app.assets.backfills`: backfills that were started. */
export class Backfills {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** All backfills, newest first, or those of one asset. */
  async list(asset?: AnyJob): Promise<readonly Backfill[]> {
    const { listBackfills } = await import('./backfills.js')
    const store = await this.#context.store()
    return await listBackfills(store, asset === undefined ? undefined : jobName(asset))
  }

  /** One backfill and its progress. */
  async get(id: string): Promise<BackfillStatus> {
    const { backfillStatus } = await import('./backfills.js')
    return await backfillStatus(await this.#context.store(), id)
  }

  /** Cancels the rest of a backfill. */
  async cancel(
    id: string,
    { dryRun }: DryRun = {},
  ): Promise<{ readonly backfill: Backfill; readonly cancelled: number }> {
    const { cancelBackfill } = await import('./backfills.js')
    const asked = { operation: 'cancel backfill', target: id, outcome: () => 'cancelled', dryRun }
    return await this.#context.change(asked, (store, now) => cancelBackfill(store, { id, now }))
  }

  /** Records the runs that are missing because the process that started the backfill died. */
  async resume(id: string, { dryRun }: DryRun = {}): Promise<Backfill> {
    const { continueBackfill } = await import('./backfills.js')
    const asked = {
      operation: 'resume backfill',
      target: id,
      outcome: () => 'resumed',
      dryRun,
      needsJobs: true,
    }
    return await this.#context.change(asked, (store, now) => continueBackfill(store, { id, now, dryRun }))
  }
}

/** Starts a backfill, if there is anything to make; with `dryRun` it only plans. */
export async function startBackfill(
  context: AppContext,
  asset: string,
  { dryRun = false, ...options }: BackfillOptions & { readonly dryRun?: boolean | undefined },
): Promise<StartedBackfill> {
  const { backfillPlan, recordBackfill } = await import('./backfills.js')
  const { storeWithJobs, tell, now, wake } = context
  const store = await storeWithJobs()
  const planned = async () => {
    const plan = await backfillPlan(store, { asset, options, now: now() })
    const digest = fingerprintOf(JSON.stringify([asset, plan.run]))
    if (options.plan !== undefined && options.plan !== digest) throw changed(asset, plan)
    return { ...plan, plan: digest }
  }
  if (dryRun) return { ...(await planned()), backfill: undefined }
  const asked = {
    operation: 'backfill',
    target: asset,
    outcome: ({ backfill }: StartedBackfill) => (backfill === undefined ? 'nothing to make' : 'started'),
    details: ({ backfill }: StartedBackfill) => ({ id: backfill?.id ?? null, runs: backfill?.total ?? 0 }),
  }
  const started = await tell(asked, async () => {
    const plan = await planned()
    return { ...plan, backfill: await recordBackfill(store, { asset, plan, options, now: now() }) }
  })
  wake()
  return started
}

function changed(asset: string, { run }: BackfillPlan): RotaError {
  const message = `the backfill of ${asset} would now make ${run.length} partitions, and not exactly those that were planned; plan it again`
  return new RotaError('BACKFILL_CHANGED', message)
}
