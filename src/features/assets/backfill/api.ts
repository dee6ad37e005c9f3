import type { AuditSubject } from '../../../kernel/audit/audit.js'
import { splitChange, type ChangeOptions } from '../../../kernel/audit/change-options.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Json } from '../../../kernel/definition/json.js'
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
    options: ChangeOptions = {},
  ): Promise<{ readonly backfill: Backfill; readonly cancelled: number }> {
    const { cancelBackfill } = await import('./backfills.js')
    const audit = { action: 'backfill.cancel', subjects: [subjectOf(id)] }
    const asked = { operation: 'cancel backfill', target: id, outcome: () => 'cancelled', options, audit }
    return await this.#context.change(asked, (store, now) => cancelBackfill(store, { id, now }))
  }

  /** Records the runs that are missing because the process that started the backfill died. */
  async resume(id: string, options: ChangeOptions = {}): Promise<Backfill> {
    const { continueBackfill } = await import('./backfills.js')
    const asked = {
      operation: 'resume backfill',
      target: id,
      outcome: () => 'resumed',
      options,
      audit: { action: 'backfill.resume', target: `backfill:${id}`, subjects: [], after: { resumed: true } },
      needsJobs: true,
    }
    const { dryRun } = options
    return await this.#context.change(asked, (store, now) => continueBackfill(store, { id, now, dryRun }))
  }
}

/** Starts a backfill, if there is anything to make; with `dryRun` it only plans. */
export async function startBackfill(
  context: AppContext,
  asset: string,
  given: BackfillOptions & ChangeOptions,
): Promise<StartedBackfill> {
  const { backfillPlan, recordBackfill } = await import('./backfills.js')
  const { change, rest: options } = splitChange(given)
  const asked = {
    operation: 'backfill',
    target: asset,
    outcome: ({ backfill }: StartedBackfill) => (backfill === undefined ? 'nothing to make' : 'started'),
    details: ({ backfill }: StartedBackfill) => ({ id: backfill?.id ?? null, runs: backfill?.total ?? 0 }),
    options: change,
    audit: { action: 'backfill.start', target: `job:${asset}`, subjects: [], after: options as Json },
    needsJobs: true,
  }
  return await context.change(asked, async (store, now) => {
    const plan = await backfillPlan(store, { asset, options, now })
    const digest = fingerprintOf(JSON.stringify([asset, plan.run]))
    if (options.plan !== undefined && options.plan !== digest) throw changed(asset, plan)
    if (change.dryRun === true) return { ...plan, plan: digest, backfill: undefined }
    const backfill = await recordBackfill(store, { asset, plan, options, now })
    return { ...plan, plan: digest, backfill }
  })
}

function subjectOf(id: string): AuditSubject {
  return { kind: 'state', key: { kind: 'backfill', name: id, item: '' } }
}

function changed(asset: string, { run }: BackfillPlan): RotaError {
  const message = `the backfill of ${asset} would now make ${run.length} partitions, and not exactly those that were planned; plan it again`
  return new RotaError('BACKFILL_CHANGED', message)
}
