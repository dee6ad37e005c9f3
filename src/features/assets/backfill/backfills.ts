import { partitionRecords } from '../facts.js'
import type { BackfillKind } from '../../../engine/backfill/backfill-kind.js'
import { itemsAt } from '../../../engine/backfill/stored-backfills.js'
import { backfillOrders, backfillRun, backfillRunId } from '../../../kernel/backfill/backfill.js'
import type { Backfill, BackfillOrder } from '../../../kernel/backfill/backfill.js'
import { readPace } from '../../../kernel/backfill/pace.js'
import { partitionOfLabel } from '../../../kernel/partition/asset.js'
import { refuse } from '../../../kernel/definition/errors.js'
import { fault, placeOf, within } from '../../../kernel/definition/faults.js'
import { endEffectFor, slotsFor } from '../../../kernel/identity/occurrence.js'
import type { NewRun } from '../../../kernel/run/run.js'
import { backfillChoices, planBackfill, type BackfillChoice, type BackfillPlan } from './choice.js'
import { labelsOf, type LabelRange } from '../../../kernel/partition/range.js'
import { maxPartitions } from '../../../kernel/partition/spec.js'
import { readChoice, readConcurrency, readWhole } from '../../../kernel/definition/read-value.js'
import { partitionKey } from '../plan.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'
import { findAsset, partitionStatuses } from '../status.js'

/** The request for a backfill. */
export interface BackfillOptions {
  /** The first and the last partition, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Or the partitions themselves. */
  readonly partitions?: readonly string[] | undefined
  /** Which partitions are produced; default: those that are `missing`. */
  readonly only?: BackfillChoice | undefined
  /** Default: oldest first. */
  readonly order?: BackfillOrder | undefined
  /** How many of its runs may run at the same time; default: no limit. */
  readonly concurrency?: number | undefined
  /** How many of its runs may begin in a period, such as `10/1m`; default: no limit. */
  readonly pace?: string | undefined
  /** The maximum number of partitions. */
  readonly limit?: number | undefined
  /** The digest of a plan: the backfill is refused if it would produce anything else. */
  readonly plan?: string | undefined
}

/** What a backfill would do, without doing it. */
export async function backfillPlan(
  store: Store,
  request: { readonly asset: string; readonly options: BackfillOptions; readonly now: Instant },
): Promise<BackfillPlan> {
  refuseFaulty(request.options)
  const job = await findAsset(store, request.asset)
  const { from, to, partitions, only, order, limit } = request.options
  const named: LabelRange | readonly string[] = partitions ?? { from, to }
  const spec = job.asset.partitions
  const labels = partitions ?? [...labelsOf(spec, { from, to })]
  // Planned once without states, to refuse labels that do not exist before anything is read.
  if (partitions !== undefined) planBackfill({ spec, partitions, stateOf: () => 'missing', now: request.now })
  const statuses = await partitionStatuses(store, job, labels)
  const states = new Map(statuses.map(({ label, state }) => [label, state]))
  const stateOf = (label: string) => states.get(label) ?? 'missing'
  return planBackfill({ spec, partitions: named, stateOf, now: request.now, only, order, limit })
}

/** Otherwise an unknown word would silently mean one of the choices. */
function refuseFaulty(options: BackfillOptions): void {
  const { only, order, limit, concurrency, pace } = options
  const place = placeOf()
  for (const name of ['from', 'to'] as const)
    if (options.partitions !== undefined && options[name] !== undefined)
      fault(within(place, name), 'it contradicts `partitions`', 'either a range or the partitions themselves')
  readChoice(only, backfillChoices, within(place, 'only'))
  readChoice(order, backfillOrders, within(place, 'order'))
  readWhole(limit, { min: 1, max: maxPartitions }, within(place, 'limit'))
  readConcurrency(concurrency, within(place, 'concurrency'))
  readPace(pace, within(place, 'pace'))
  refuse('the backfill', place.faults)
}

/** Backfills of assets: an item is the label of a partition. */
export const assetBackfill: BackfillKind = {
  of: 'asset',
  runs: runsOf,
  progress: progressOf,
}

async function runsOf(
  store: Store,
  backfill: Backfill,
  { items, first }: { readonly items: readonly string[]; readonly first: number },
): Promise<readonly NewRun[]> {
  const job = await findAsset(store, backfill.asset ?? '')
  return items.map((item, i) => {
    const partition = partitionOfLabel(item)
    const slots = slotsFor({ job, partition })
    // Runs of backfills are not measured by an SLA.
    const { asset } = job
    const base = { job: job.name, priority: job.priority, partition, slots, ...endEffectFor({ asset }) }
    return backfillRun(base, backfill, { item, index: first + i })
  })
}

const labelsPerLook = 1000

/** Every partition that was produced since it began counts, by any run. */
async function progressOf(store: Store, backfill: Backfill): Promise<{ done: number; failed: number }> {
  const { total, createdAt } = backfill
  const asset = backfill.asset ?? ''
  let done = 0
  let failed = 0
  for (let i = 0; i < total; i += labelsPerLook) {
    const labels = await itemsAt(store, backfill, { from: i, most: labelsPerLook })
    const notes = await partitionRecords(
      store,
      labels.map((label) => ({ asset, label })),
    )
    for (const label of labels) {
      const note = notes.get(partitionKey(asset, label))
      const isOwn = note?.run === backfillRunId(backfill, label)
      if (note === undefined || (!isOwn && note.at < createdAt)) continue
      if (note.state === 'done') done += 1
      else failed += 1
    }
  }
  return { done, failed }
}
