import type { Json } from '../../kernel/definition/json.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { EndedRun, EndEffect } from '../../kernel/run/end-effect.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'

/** The stored state of an asset's partition, which the runs of that partition write when they end. */
export interface PartitionRecord {
  /** How the last run of it ended. */
  readonly state: 'done' | 'failed'
  readonly run: RunId
  readonly at: Instant
  /** When it was last done, and by which run. */
  readonly doneAt: Instant | null
  readonly doneRun: RunId | null
  /** When the attempt that produced it began: it has not read anything that was done upstream after that. */
  readonly readAt: Instant | null
}

/** The end of a run of an asset writes the state of its partition, and creates arrivals for downstream assets. */
export const assetEffect: EndEffect = {
  name: 'asset',
  code: 3,
  reads: ({ job, partition = '' }) => [{ kind: 'partition', name: job, item: partition }],
  changes: (run, [before]) => (run.state === 'cancelled' ? [] : [partitionChange(run, before)]),
  arrival: (run) => (run.state === 'done' ? arrivalOf(run) : undefined),
}

function partitionChange(run: EndedRun, before: Json | undefined): StateChange {
  const known = before as unknown as PartitionRecord | undefined
  const isDone = run.state === 'done'
  const value: PartitionRecord = {
    state: isDone ? 'done' : 'failed',
    run: run.id,
    at: run.at,
    doneAt: isDone ? run.at : (known?.doneAt ?? null),
    doneRun: isDone ? run.id : (known?.doneRun ?? null),
    readAt: isDone ? (run.startedAt ?? run.at) : (known?.readAt ?? null),
  }
  return { kind: 'partition', name: run.job, item: run.partition ?? '', value: value as unknown as Json }
}

function arrivalOf({ id, job, partition = '', at }: EndedRun): Omit<StateChange, 'name'> {
  const value = { asset: job, partition, run: id, at }
  return { kind: 'arrival', item: JSON.stringify([job, partition]), value }
}
