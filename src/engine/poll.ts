import { RotaError } from '../model/errors.js'
import { shown } from '../model/faults.js'
import type { Json } from '../model/json.js'
import { failedPoll, readInit, readPoll, type Sensed } from '../model/read-poll.js'
import { pollGraceMs } from '../model/sense.js'
import type { ConfiguredSensor } from '../model/sensor.js'
import { formatDuration } from '../time/duration.js'
import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'

/** One poll: of which sensor, from which state, and how long it may take. */
export interface PollRequest {
  readonly configured: ConfiguredSensor
  /** Undefined where the sensor has to be initialised first. */
  readonly state: { readonly value: Json } | undefined
  readonly now: Instant
  readonly timezone: string
  readonly timeoutMs: number
  readonly clock: Clock
  /** Aborts when the engine stops. */
  readonly stop: AbortSignal
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
  const { clock, timeoutMs, stop } = request
  const controller = new AbortController()
  const known: { state: PollRequest['state'] } = { state: request.state }
  const work = perform(request, controller.signal, known)
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
  let sensed = await Promise.race([work, limit(timeoutMs), stopping])
  cancel()
  stop.removeEventListener('abort', stopped)
  if (sensed === undefined) {
    controller.abort(stop.aborted ? stopError() : lateError(timeoutMs))
    sensed = await Promise.race([work, limit(pollGraceMs(timeoutMs))])
    cancel()
  }
  if (sensed !== undefined && !(controller.signal.aborted && sensed.kind === 'error')) {
    return { sensed, isStopped: false, unsettled: undefined }
  }
  const reason = stop.aborted ? 'the engine stopped' : `it took longer than ${formatDuration(timeoutMs)}`
  // What its init gave is a state that the next poll can begin with.
  const begun = request.state === undefined ? known.state : undefined
  return {
    sensed: failedPoll(reason, sensed?.state ?? begun),
    isStopped: stop.aborted,
    unsettled: sensed === undefined ? work.then(() => undefined) : undefined,
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
