import { RotaError } from '../../../kernel/definition/errors.js'
import { shown } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { failedPoll, readInit, readPoll, type Sensed } from './read-poll.js'
import { pollGraceMs } from '../plan.js'
import type { ConfiguredSensor } from '../sensor.js'
import { formatDuration } from '../../../time/duration.js'
import type { Clock } from '../../../time/clock.js'
import type { Instant } from '../../../time/instant.js'
import type { Events } from '../../../engine/events.js'
import { tracedSensor, type ErrorTracer } from '../../../engine/worker/error-tracer.js'

/** One poll: the sensor, its state, and the time limit. */
export interface PollRequest {
  readonly name: string
  readonly configured: ConfiguredSensor
  /** Undefined if the sensor has to be initialised first. */
  readonly state: { readonly value: Json } | undefined
  readonly now: Instant
  readonly timezone: string
  readonly timeoutMs: number
  readonly clock: Clock
  /** Aborts when the engine stops. */
  readonly stop: AbortSignal
  readonly tracer: ErrorTracer
  /** Called with an uncaught error of its code after the poll had ended or was aborted. */
  readonly onLateError: (error: unknown) => void
}

/** The result of a poll. */
export interface Polled {
  readonly sensed: Sensed
  /** Whether the engine stopped before it had an answer. */
  readonly isStopped: boolean
  /** Resolves when a poll that ignored its signal has ended; its result is discarded. */
  readonly unsettled: Promise<void> | undefined
}

/** Polls a sensor with its timeout. Never throws: an error is a result of the poll. */
export async function poll(request: PollRequest): Promise<Polled> {
  const { name, clock, timeoutMs, stop, tracer, onLateError } = request
  const controller = new AbortController()
  const { signal } = controller
  let interrupt = (): void => undefined
  const interrupted = new Promise<undefined>((resolve) => {
    interrupt = () => resolve(undefined)
  })
  const traced = {
    title: `sensor ${name}`,
    isOver: false,
    failure: undefined as { readonly error: unknown; readonly reason: string } | undefined,
    /** Handles uncaught errors of its code: the first one fails the poll. */
    fail(error: unknown): void {
      if (traced.isOver || signal.aborted) return onLateError(error)
      traced.failure ??= { error, reason: `uncaught error: ${reasonOf(error)}` }
      interrupt()
    },
  }
  const known: { state: PollRequest['state'] } = { state: request.state }
  const work = tracer.run(traced, () => perform(request, signal, known), undefined)
  const cancel = clock.timer(timeoutMs, interrupt)
  stop.addEventListener('abort', interrupt, { once: true })
  if (stop.aborted) interrupt()
  let sensed = await Promise.race([work, interrupted])
  cancel()
  stop.removeEventListener('abort', interrupt)
  if (sensed === undefined) {
    controller.abort(traced.failure?.error ?? (stop.aborted ? stopError() : lateError(timeoutMs)))
    sensed = await settledWithin(clock, pollGraceMs(timeoutMs), work)
  }
  await tracer.taken()
  traced.isOver = true
  const { failure } = traced
  const isCut = sensed === undefined || (signal.aborted && sensed.kind === 'error')
  if (sensed !== undefined && !isCut && failure === undefined)
    return { sensed, isStopped: false, unsettled: undefined }
  const isStopped = stop.aborted && failure === undefined
  const late = `it took longer than ${formatDuration(timeoutMs)}`
  const reason = failure?.reason ?? (isStopped ? 'the engine stopped' : late)
  // The next poll can begin with the state that init returned.
  const begun = request.state === undefined ? known.state : undefined
  return {
    sensed: failedPoll(reason, failure === undefined ? (sensed?.state ?? begun) : begun),
    isStopped,
    unsettled: sensed === undefined ? work.then(() => undefined) : undefined,
  }
}

/** The result of a promise; undefined if it takes longer, or if the signal aborts first. */
export async function settledWithin<Result>(
  clock: Clock,
  limitMs: number,
  work: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result | undefined> {
  const over = new AbortController()
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  const result = await Promise.race([work, clock.sleep(limitMs, either).then(() => undefined)])
  over.abort()
  return result
}

const cleanupMs = 5000

/** Cleans a sensor up, within a time limit. Never throws: a cleanup that fails is a `trouble` event. */
export async function cleanUpSensor(
  name: string,
  { sensor }: Pick<ConfiguredSensor, 'sensor'>,
  context: Pick<PollRequest, 'clock' | 'tracer'> & { readonly state: Json; readonly events: Events },
): Promise<void> {
  const { state, clock, events, tracer } = context
  if (sensor.cleanup === undefined) return
  const traced = tracedSensor(name, events)
  const cleanup = async (): Promise<void> => await sensor.cleanup?.(structuredClone(state))
  const cleaned = tracer.run(traced, cleanup, undefined).catch((error: unknown) => {
    traced.fail(new Error(`its cleanup failed: ${reasonOf(error)}`, { cause: error }))
  })
  await settledWithin(clock, cleanupMs, cleaned)
}

/** A thrown value as text. */
function reasonOf(error: unknown): string {
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
    known.state ??= readInit(await sensor.init(config))
    // A copy, because the sensor may change the object.
    const state = structuredClone(known.state.value)
    const sensed = readPoll(await sensor.poll(state, { config, now: new Date(now), timezone, signal }))
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
