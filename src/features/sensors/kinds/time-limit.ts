import { RotaError } from '../../../kernel/definition/errors.js'
import { systemClock } from '../../../time/clock.js'

/** Runs an external operation in real time, with a signal that aborts with another one or after a time limit. */
export async function limited<T>(
  signal: AbortSignal,
  limitMs: number,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopped = (): RotaError =>
    new RotaError('CANCELLED', 'the poll was aborted', { cause: signal.reason })
  if (signal.aborted) throw stopped()
  const limit = new AbortController()
  const cancel = systemClock.timer(limitMs, () =>
    limit.abort(new RotaError('TIMED_OUT', `no answer within ${limitMs} ms`)),
  )
  const either = AbortSignal.any([signal, limit.signal])
  try {
    return await act(either)
  } catch (error) {
    if (limit.signal.aborted && !signal.aborted) throw limit.signal.reason
    throw signal.aborted ? stopped() : error
  } finally {
    cancel()
  }
}
