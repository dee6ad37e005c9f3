import { partitionRecords } from '../facts.js'
import { backfillRunId, newBackfillRun, type Backfill } from './backfill.js'
import type { AssetJob } from '../../../kernel/partition/asset.js'
import { refuse, RotaError } from '../../../kernel/definition/errors.js'
import { placeOf, within } from '../../../kernel/definition/faults.js'
import { fingerprintOf, randomRunId } from '../../../kernel/identity/identity.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { StateChange } from '../../../kernel/state/state-entry.js'
import {
  backfillChoices,
  planBackfill,
  type BackfillChoice,
  type BackfillOrder,
  type BackfillPlan,
} from './choice.js'
import { labelsOf, type LabelRange } from '../../../kernel/partition/range.js'
import { maxPartitions } from '../../../kernel/partition/spec.js'
import { noneNamed, readChoice, readConcurrency, readWhole } from '../../../kernel/definition/read-value.js'
import { partitionKey } from '../plan.js'
import type { Store } from '../../../store/port.js'
import type { DryRun } from '../../../kernel/definition/dry-run.js'
import type { Instant } from '../../../time/instant.js'
import { findAsset, partitionStatuses } from '../status.js'

/** What is asked of a backfill. */
export interface BackfillOptions {
  /** The first and the last partition, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Or the partitions themselves. */
  readonly partitions?: readonly string[] | undefined
  /** Which partitions are made; default: those that are `missing`. */
  readonly only?: BackfillChoice | undefined
  /** Default: oldest first. */
  readonly order?: BackfillOrder | undefined
  /** How many partitions are made concurrently; default: as many as the workers take. */
  readonly pace?: number | undefined
  /** The most that are made. */
  readonly limit?: number | undefined
  /** The digest of a plan: the backfill is refused if it would make anything else. */
  readonly plan?: string | undefined
}

/** How a backfill goes: what was made since it began counts, whoever made it. */
export interface BackfillStatus extends Backfill {
  readonly done: number
  readonly failed: number
  readonly left: number
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
  // Planned once without their states: that refuses what does not exist before anything is read.
  if (partitions !== undefined) planBackfill({ spec, partitions, stateOf: () => 'missing', now: request.now })
  const statuses = await partitionStatuses(store, job, labels)
  const states = new Map(statuses.map(({ label, state }) => [label, state]))
  const stateOf = (label: string) => states.get(label) ?? 'missing'
  return planBackfill({ spec, partitions: named, stateOf, now: request.now, only, order, limit })
}

/** A word that is none of the choices would otherwise mean another one. */
function refuseFaulty({ only, order, limit, pace }: BackfillOptions): void {
  const place = placeOf()
  readChoice(only, backfillChoices, within(place, 'only'))
  readChoice(order, ['oldest-first', 'newest-first'], within(place, 'order'))
  readWhole(limit, { min: 1, max: maxPartitions }, within(place, 'limit'))
  readConcurrency(pace, within(place, 'pace'))
  refuse('the backfill', place.faults)
}

/** How many runs are recorded at once, and how many labels stand in one note. */
const part = 1000

/** Stores a backfill with all its labels, then records its runs; undefined if there is nothing to make. */
export async function recordBackfill(
  store: Store,
  request: {
    readonly asset: string
    readonly plan: BackfillPlan
    readonly options: BackfillOptions
    readonly now: Instant
  },
): Promise<Backfill | undefined> {
  const { asset, options, now } = request
  const { run } = request.plan
  const [first] = run
  if (first === undefined) return undefined
  const backfill: Backfill = {
    id: `bf-${fingerprintOf(randomRunId(now)).slice(0, 8)}`,
    asset,
    only: options.only ?? 'missing',
    order: options.order ?? 'oldest-first',
    pace: options.pace ?? null,
    total: run.length,
    createdAt: now,
    first,
    last: run.at(-1) ?? first,
    started: 0,
    state: 'starting',
  }
  const parts: StateChange[] = []
  for (let i = 0; i < run.length; i += part) {
    parts.push({ ...partKey(backfill.id, i), value: run.slice(i, i + part) })
  }
  await store.changeState({ changes: [...parts, { ...recordOf(backfill), revision: 0 }], now })
  return await continueBackfill(store, { id: backfill.id, now })
}

/** Records the runs of a backfill that were not recorded yet; those that were stay as they are. */
export async function continueBackfill(
  store: Store,
  { id, now, dryRun }: { readonly id: string; readonly now: Instant } & DryRun,
): Promise<Backfill> {
  let { backfill, revision } = await findBackfill(store, id)
  const job = await findAsset(store, backfill.asset)
  if (dryRun === true && backfill.state === 'starting') {
    return { ...backfill, state: 'started', started: backfill.total }
  }
  while (backfill.state === 'starting') {
    await record(store, { job, backfill, now })
    const started = Math.min(backfill.total, backfill.started + part)
    const state = started === backfill.total ? 'started' : 'starting'
    const change = { ...recordOf({ ...backfill, started, state }), revision }
    await store.changeState({ changes: [change], now })
    ;({ backfill, revision } = await findBackfill(store, id))
  }
  // Somebody may have cancelled it while runs were being recorded.
  if (backfill.state === 'cancelled')
    await cancelRuns(store, { backfill, now, reason: 'its backfill was cancelled' })
  return backfill
}

/** Cancels a backfill: what waits is cancelled, what runs is asked to stop; gives how many runs that were. */
export async function cancelBackfill(
  store: Store,
  { id, now }: { readonly id: string; readonly now: Instant },
): Promise<{ readonly backfill: Backfill; readonly cancelled: number }> {
  for (;;) {
    const { backfill, revision } = await findBackfill(store, id)
    const cancelled: Backfill = { ...backfill, state: 'cancelled' }
    const changes = [{ ...recordOf(cancelled), revision }]
    if ((await store.changeState({ changes, now })) === 'stale') continue
    const reason = `backfill ${id} was cancelled`
    return { backfill: cancelled, cancelled: await cancelRuns(store, { backfill, now, reason }) }
  }
}

/** All backfills, newest first, or those of one asset. */
export async function listBackfills(store: Store, asset?: string): Promise<readonly Backfill[]> {
  const notes = await store.stateEntries({ kind: 'backfill', items: [''], limit: 100_000 })
  return notes
    .map(({ value }) => value as unknown as Backfill)
    .filter((one) => asset === undefined || one.asset === asset)
    .toSorted((one, other) => other.createdAt - one.createdAt)
}

/** How a backfill goes. */
export async function backfillStatus(store: Store, id: string): Promise<BackfillStatus> {
  const { backfill } = await findBackfill(store, id)
  const { asset, total, createdAt } = backfill
  let done = 0
  let failed = 0
  for (let i = 0; i < total; i += part) {
    const labels = await labelsAt(store, id, i)
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
  return { ...backfill, done, failed, left: total - done - failed }
}

async function record(
  store: Store,
  { job, backfill, now }: { job: AssetJob; backfill: Backfill; now: Instant },
): Promise<void> {
  const labels = await labelsAt(store, backfill.id, backfill.started)
  const runs = labels.map((label, index) =>
    newBackfillRun(job, backfill, { label, index: backfill.started + index }),
  )
  await store.enqueue({ runs, now })
}

const cancelsAtOnce = 100

async function cancelRuns(
  store: Store,
  { backfill, now, reason }: { backfill: Backfill; now: Instant; reason: string },
): Promise<number> {
  let cancelled = 0
  // One part further than is known to be recorded: whoever started it may have died before saying so.
  for (let i = 0; i < Math.min(backfill.total, backfill.started + part); i += part) {
    const labels = await labelsAt(store, backfill.id, i)
    for (let j = 0; j < labels.length; j += cancelsAtOnce) {
      const ids = labels.slice(j, j + cancelsAtOnce).map((label) => backfillRunId(backfill, label))
      const answers = await Promise.all(ids.map((run) => store.cancel({ run, now, reason })))
      cancelled += answers.filter((answer) => answer === 'cancelled' || answer === 'requested').length
    }
  }
  return cancelled
}

/** Among how many backfills the one that was meant is looked for. */
const mostGuessed = 1000

async function findBackfill(
  store: Store,
  id: string,
): Promise<{ readonly backfill: Backfill; readonly revision: number }> {
  const [note] = await store.stateEntries({ kind: 'backfill', names: [id], items: [''], limit: 1 })
  if (note !== undefined) return { backfill: note.value as unknown as Backfill, revision: note.revision }
  const known = (await store.stateEntries({ kind: 'backfill', items: [''], limit: mostGuessed })).map(
    ({ name }) => name,
  )
  const message = noneNamed('backfill has the id', id, { known, list: 'rota asset backfill' })
  throw new RotaError('RUN_UNKNOWN', message)
}

async function labelsAt(store: Store, id: string, from: number): Promise<readonly string[]> {
  const { kind, name, item } = partKey(id, from)
  const [note] = await store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  return (note?.value ?? []) as readonly string[]
}

function partKey(id: string, from: number): { kind: 'backfill'; name: string; item: string } {
  return { kind: 'backfill', name: id, item: String(from).padStart(6, '0') }
}

function recordOf(backfill: Backfill): StateChange {
  return { kind: 'backfill', name: backfill.id, item: '', value: backfill as unknown as Json }
}
