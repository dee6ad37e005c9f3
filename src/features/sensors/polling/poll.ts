import { RotaError } from '../../../kernel/definition/errors.js'
import { shown } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { failedPoll, readInit, readPoll, type Sensed } from './read-poll.js'
import { pollGraceMs } from '../plan.js'
import type { ConfiguredSensor } from '../sensor.js'
import { formatDuration } from '../../../time/duration.js'
import type { Clock } from '../../../time/clock.js'
import type { Instant } from '../../../time/instant.js'
import type { ErrorTracer, Traced } from '../../../engine/worker/error-tracer.js'

/** One poll: of which sensor, from which state, and how long it may take. */
export interface PollRequest {
  readonly name: string
  readonly configured: ConfiguredSensor
  /** Undefined where the sensor has to be initialised first. */
  readonly state: { readonly value: Json } | undefined
  readonly now: Instant
  readonly timezone: string
  readonly timeoutMs: number
  readonly clock: Clock
  /** Aborts when the engine stops. */
  readonly stop: AbortSignal
  readonly tracer: ErrorTracer
  /** An error of its code that nobody caught came after it had ended, or after it was told to stop. */
  readonly onLateError: (error: unknown) => void
}

/** What a poll came to. */
export interface Polled {
  readonly sensed: Sensed
  /** Whether the engine stopped before it had an answer. */
  readonly isStopped: boolean
  /** Resolves when a poll that ignored its signal has ended after all; whatever it then returns counts for nothing. */
  readonly unsettled: Promise<void> | undefined
}

/** Polls a sensor under its timeout. Never throws: whatever goes wrong is what the poll came to. */
export async function poll(request: PollRequest): Promise<Polled> {
  const { clock, timeoutMs, stop, tracer } = request
  const controller = new AbortController()
  const known: { state: PollRequest['state'] } = { state: request.state }
  const traced = new TracedPoll(request, controller.signal)
  const work = tracer.run(traced, () => perform(request, controller.signal, known), undefined)
  let cancel = (): void => undefined
  const limit = (ms: number): Promise<undefined> =>
    new Promise((resolve) => {
      cancel = clock.timer(ms, () => resolve(undefined))
    })
  let stopped = (): void => undefined
  const stopping = new Promise<undefined>((resolve) => {
    stopped = () => resolve(undefined)
  })
  stop.addEventListener('abort', stopped, { once: true })
  if (stop.aborted) stopped()
  let sensed = await Promise.race([work, limit(timeoutMs), stopping, traced.failed])
  cancel()
  stop.removeEventListener('abort', stopped)
  if (sensed === undefined) {
    controller.abort(traced.failure?.error ?? (stop.aborted ? stopError() : lateError(timeoutMs)))
    sensed = await Promise.race([work, limit(pollGraceMs(timeoutMs))])
    cancel()
  }
  await tracer.taken()
  traced.isOver = true
  const { failure } = traced
  if (
    sensed !== undefined &&
    failure === undefined &&
    !(controller.signal.aborted && sensed.kind === 'error')
  ) {
    return { sensed, isStopped: false, unsettled: undefined }
  }
  const isStopped = stop.aborted && failure === undefined
  const late = `it took longer than ${formatDuration(timeoutMs)}`
  const reason = failure?.reason ?? (isStopped ? 'the engine stopped' : late)
  // What its init gave is a state that the next poll can begin with.
  const begun = request.state === undefined ? known.state : undefined
  return {
    sensed: failedPoll(reason, failure === undefined ? (sensed?.state ?? begun) : begun),
    isStopped,
    unsettled: sensed === undefined ? work.then(() => undefined) : undefined,
  }
}

/** Takes errors of a poll's code that nobody caught: the first one fails the poll. */
class TracedPoll implements Traced {
  readonly title: string
  /** Resolves when the poll has failed this way. */
  readonly failed: Promise<undefined>
  failure: { readonly error: unknown; readonly reason: string } | undefined
  isOver = false
  readonly #onLateError: PollRequest['onLateError']
  readonly #signal: AbortSignal
  #fail = (): void => undefined

  constructor({ name, onLateError }: PollRequest, signal: AbortSignal) {
    this.title = `sensor ${name}`
    this.#onLateError = onLateError
    this.#signal = signal
    this.failed = new Promise((resolve) => {
      this.#fail = () => resolve(undefined)
    })
  }

  fail(error: unknown): void {
    if (this.isOver || this.#signal.aborted) {
      this.#onLateError(error)
      return
    }
    this.failure ??= { error, reason: `an error that nobody caught: ${reasonOf(error)}` }
    this.#fail()
  }
}

/** What somebody's code threw, in words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${shown(error)}`
  return error.message === '' ? error.name : error.message
}

async function perform(
  { configured, now, timezone }: PollRequest,
  signal: AbortSignal,
  known: { state: PollRequest['state'] },
): Promise<Sensed> {
  const { sensor, config } = configured
  const isFirst = known.state === undefined
  try {
    if (known.state === undefined) {
      const begun = readInit(await sensor.init(config))
      if ('kind' in begun) return begun
      known.state = begun
    }
    // A copy of its own: what it does to it must not change what is kept.
    const state = structuredClone(known.state.value)
    const sensed = readPoll(await sensor.poll(state, { config, now, timezone, signal }))
    return sensed.state === undefined && isFirst ? { ...sensed, state: known.state } : sensed
  } catch (error) {
    return failedPoll(reasonOf(error), isFirst ? known.state : undefined)
  }
}

function lateError(timeoutMs: number): RotaError {
  return new RotaError('TIMED_OUT', `the poll took longer than ${formatDuration(timeoutMs)}`)
}

function stopError(): RotaError {
  return new RotaError('CANCELLED', 'the engine stops')
}
