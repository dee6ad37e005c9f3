import { startBackfill as start } from '../../../engine/backfill/perform-backfill.js'
import { storeBackfill } from '../../../engine/backfill/stored-backfills.js'
import type { Backfill } from '../../../kernel/backfill/backfill.js'
import { splitChange, type ChangeOptions } from '../../../kernel/audit/change-options.js'
import { readPace } from '../../../kernel/backfill/pace.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { placeOf } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { fingerprintOf } from '../../../kernel/identity/identity.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'
import type { AppContext } from '../../app-context.js'
import type { BackfillOptions } from './backfills.js'
import { labelsByReason, type BackfillPlan } from './choice.js'

/** Which partitions a backfill produces, and the backfill if it was started. */
export interface StartedBackfill extends BackfillPlan {
  /** A digest of the partitions and their order. */
  readonly plan: string
  readonly backfill: Backfill | undefined
}

/** Starts a backfill, if there is anything to produce; with `dryRun` it only plans. */
export async function startBackfill(
  context: AppContext,
  asset: string,
  given: BackfillOptions & ChangeOptions,
): Promise<StartedBackfill> {
  const { backfillPlan } = await import('./backfills.js')
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
    const by = change.by ?? context.author.by
    const about = { asset, plan, options, by, reason: change.reason ?? context.author.reason ?? null, now }
    return { ...plan, plan: digest, backfill: await recordBackfill(store, about) }
  })
}

function changed(asset: string, { run }: BackfillPlan): RotaError {
  const message = `the backfill of ${asset} would now make ${run.length} partitions, and not exactly those that were planned; plan it again`
  return new RotaError('BACKFILL_CHANGED', message)
}

/** Stores a backfill with all its labels, then records its runs; undefined if there is nothing to produce. */
export async function recordBackfill(
  store: Store,
  request: {
    readonly asset: string
    readonly plan: BackfillPlan
    readonly options: BackfillOptions
    readonly by: string
    readonly reason: string | null
    readonly now: Instant
  },
): Promise<Backfill | undefined> {
  const { assetBackfill } = await import('./backfills.js')
  const { asset, plan, options, by, reason, now } = request
  const { only = 'missing', order = 'oldest-first', concurrency = null } = options
  const [first] = plan.run
  if (first === undefined) return undefined
  const { id } = await storeBackfill(store, {
    trigger: null,
    asset,
    only,
    order,
    concurrency,
    pace: readPace(options.pace, placeOf()) ?? null,
    first,
    last: plan.run.at(-1) ?? first,
    skipped: Object.fromEntries([...labelsByReason(plan)].map(([why, labels]) => [why, labels.length])),
    by,
    reason,
    items: plan.run,
    now,
  })
  return await start(store, { kinds: [assetBackfill], id, now })
}
