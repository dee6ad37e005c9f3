import type { Instant } from '../../../time/instant.js'
import { partitionOfLabel, type AssetJob } from '../../../kernel/partition/asset.js'
import { runIdOf, type RunId } from '../../../kernel/identity/identity.js'
import { endEffectFor, slotsFor } from '../../../kernel/identity/occurrence.js'
import type { BackfillChoice, BackfillOrder } from './choice.js'
import type { NewRun } from '../../../kernel/run/run.js'

/** A backfill as it is noted: what was asked for, and how far it was started. Its labels stand beside it, in parts. */
export interface Backfill {
  readonly id: string
  readonly asset: string
  readonly only: BackfillChoice
  readonly order: BackfillOrder
  /** How many of its runs may be held at once; null for no limit of its own. */
  readonly pace: number | null
  readonly total: number
  readonly createdAt: Instant
  readonly first: string
  readonly last: string
  /** How many of its runs were recorded: less than all where whoever started it died. */
  readonly started: number
  readonly state: 'starting' | 'started' | 'cancelled'
}

/** The id of the run of a partition in a backfill: recording it again changes nothing. */
export function backfillRunId({ id, createdAt }: Pick<Backfill, 'id' | 'createdAt'>, label: string): RunId {
  return runIdOf({ at: createdAt, parts: ['backfill', id, label] })
}

/** The run of a partition, at its place in the order of the backfill. It moves no cursor and changes no disposition. */
export function newBackfillRun(
  job: AssetJob,
  backfill: Backfill,
  { label, index }: { readonly label: string; readonly index: number },
): NewRun {
  const { id, pace, total, createdAt } = backfill
  const partition = partitionOfLabel(label)
  const slots = slotsFor({ job, partition })
  return {
    id: backfillRunId(backfill, label),
    job: job.name,
    origin: 'backfill',
    dueAt: createdAt,
    // One after the other in time, so that they are taken in this order; none later than now.
    runAt: createdAt - (total - index),
    // What is due now goes before what is made again.
    priority: job.priority - 1,
    partition,
    slots: pace === null ? slots : [...slots, { key: `backfill:${id}`, limit: pace }],
    labels: { backfill: id },
    ...endEffectFor(job),
  }
}
