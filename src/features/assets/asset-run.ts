import { assertPartition, isAsset } from '../../kernel/partition/asset.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Job } from '../../kernel/job/job.js'
import { sliceOf } from '../../kernel/partition/label.js'
import { isTime } from '../../kernel/partition/spec.js'
import type { Handler, RunContext } from '../../engine/worker/perform.js'
import { PermanentError } from '../../kernel/job/thrown.js'

/** What `materialize` gets: the run, and the time range of its partition. */
export interface AssetRun<Payload = unknown> extends RunContext<Payload> {
  /** The label of the partition; empty if the asset has no partitions. */
  readonly partition: string
  /** The time range of the partition, if it has one. */
  readonly slice: TimeSlice | undefined
}

/** A time range: its first instant, and the first instant after it. */
export interface TimeSlice {
  readonly label: string
  readonly from: Date
  readonly until: Date
}

/** The handler of an asset. A run whose partition does not exist fails permanently before the handler is called. */
export function assetHandler(job: Job, handler: Handler): Handler {
  if (!isAsset(job)) return handler
  const { partitions } = job.asset
  return (run) => {
    const label = checked(() => assertPartition(job, run.partition))
    const slice = isTime(partitions) ? sliceOf(partitions, label) : undefined
    const stretch =
      slice === undefined
        ? undefined
        : { label, from: new Date(slice.fromAt), until: new Date(slice.untilAt) }
    return handler(new Context(run, { label, slice: stretch }))
  }
}

function checked<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RotaError)) throw error
    throw Object.assign(new PermanentError(error.message, { cause: error }), { code: error.code })
  }
}

/** A class, so that the signal is created only when it is read. */
class Context implements AssetRun {
  readonly id: string
  readonly job: string
  readonly trigger: string | undefined
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly dueAt: Date
  readonly partition: string
  readonly slice: TimeSlice | undefined
  readonly payload: unknown
  readonly log: RunContext['log']
  readonly #run: RunContext

  constructor(run: RunContext, { label, slice }: { label: string; slice: TimeSlice | undefined }) {
    this.id = run.id
    this.job = run.job
    this.trigger = run.trigger
    this.attempt = run.attempt
    this.isLastAttempt = run.isLastAttempt
    this.dueAt = run.dueAt
    this.partition = label
    this.slice = slice
    this.payload = run.payload
    this.log = (text, level) => run.log(text, level)
    this.#run = run
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }
}
