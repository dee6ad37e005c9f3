import { errorCodes, RotaError, type ErrorCode } from '../../kernel/definition/errors.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Run } from '../../kernel/run/run.js'
import type { Enqueued } from '../../store/port.js'

/** A run that was enqueued. */
export class EnqueuedRun<Result = unknown> implements Enqueued {
  readonly id: RunId
  /** False if the unique key was taken: then this is the run that has it. */
  readonly created: boolean
  readonly #wait: (id: RunId, signal?: AbortSignal) => Promise<Run>

  constructor({ id, created }: Enqueued, wait: (id: RunId, signal?: AbortSignal) => Promise<Run>) {
    this.id = id
    this.created = created
    this.#wait = wait
  }

  /** Waits for the end of the run and returns its result. Throws a RotaError if the run failed or was cancelled. */
  async result(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Result> {
    const { signal } = options
    const run = await this.#wait(this.id, signal)
    if (run.state === 'done') return run.result as Result
    if (run.state === 'failed' || run.state === 'cancelled') throw endError(run)
    throw signal?.reason
  }
}

/** The error for a run that has no result. */
function endError({ state, error, reason }: Run): RotaError {
  if (state === 'cancelled') return new RotaError('CANCELLED', reason ?? 'the run was cancelled')
  const { code = 'HANDLER_FAILED', message = 'the run failed', details } = error ?? {}
  const known = code in errorCodes ? (code as ErrorCode) : 'HANDLER_FAILED'
  return new RotaError(known, message, details === undefined ? {} : { details })
}
