import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import {
  clockStateKey,
  clockStateValue,
  jumpToleranceMs,
  steadySinceMs,
  type ClockPair,
} from '../../kernel/state/clock-history.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import { formatInstant } from '../../time/instant.js'

/** The time that planning may use as now, or why it must wait. */
export type ClockReading =
  | { readonly kind: 'ok'; readonly now: Instant }
  /** The wall clock is behind the last planned instant: nothing is due until it has caught up. */
  | { readonly kind: 'behind'; readonly byMs: number; readonly againAt: Instant }
  /** It jumped forward by more than an hour without an explanation: two readings must agree. */
  | { readonly kind: 'unsure'; readonly byMs: number; readonly againAt: Instant }
  /** It is more than a year ahead of the store: a person must confirm that this is right. */
  | { readonly kind: 'refused'; readonly byMs: number; readonly againAt: Instant }

/** Why planning must wait. */
export type ClockDoubt = Exclude<ClockReading, { kind: 'ok' }>

const hourMs = 3_600_000
const yearMs = 366 * 24 * hourMs
const confirmMs = 10_000
const toleranceMs = jumpToleranceMs

/** The options for opening a guard on a store. */
export interface ClockGuardOptions {
  readonly acceptClock: boolean
  /**
   * Whether the store remembers jumps of the clock, so that a new process knows about them; `read` writes nothing. Only
   * for stores on one machine: a monotonic clock has no meaning on another.
   */
  readonly history?: 'kept' | 'read' | undefined
}

/** Protects the cursors from the wall clock: a step back moves nothing, a large step forward must be confirmed. */
export class ClockGuard {
  readonly #clock: Clock
  readonly #acceptClock: boolean
  #highestAt: Instant
  /** Where time continues from while the wall clock is doubted: the last accepted reading, or the store's. */
  readonly #start: Reading
  #trusted: Reading | undefined
  #jumpedMs: number
  #noted: Reading | undefined
  #doubted: Reading | undefined
  readonly #hearers = new Set<(at: Instant) => void>()

  /** `highestAt` is the highest time in the store, 0 for a new one; `jumpedMs` the latest possible time of a jump. */
  constructor(clock: Clock, options: { highestAt: Instant; acceptClock: boolean; jumpedMs?: number }) {
    this.#clock = clock
    this.#jumpedMs = options.jumpedMs ?? -Infinity
    this.#acceptClock = options.acceptClock
    this.#highestAt = options.highestAt
    this.#start = { wall: options.highestAt, monotonicMs: clock.monotonicMs() }
  }

  /** Opens a guard that knows the highest time in a store. */
  static async open(store: Store, clock: Clock, options: ClockGuardOptions): Promise<ClockGuard> {
    const { acceptClock, history } = options
    const { highestAt } = await store.health({ now: clock.now() })
    const jumpedMs = history === undefined ? -Infinity : await lastJump(store, clock, history)
    return new ClockGuard(clock, { highestAt, acceptClock, jumpedMs })
  }

  /** The time for leases and records: never earlier than a time that was already written, and never a doubted one. */
  now(): Instant {
    const { kind } = this.read()
    if (kind === 'unsure' || kind === 'refused') {
      this.#highestAt = Math.max(this.#highestAt, Math.floor(this.#projected()))
    }
    return this.#highestAt
  }

  /** Resolves when the wall clock is accepted, or the signal aborts; throws if only a person can confirm it. */
  async confirmed(onDoubt: (reading: ClockDoubt) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const reading = this.read()
      if (reading.kind === 'refused') throw this.#refusal()
      if (reading.kind !== 'unsure') return
      onDoubt(reading)
      await this.#clock.sleep(confirmMs, signal)
    }
  }

  /** The time for planning. */
  read(): ClockReading {
    const wall = this.#clock.now()
    const monotonicMs = this.#clock.monotonicMs()
    if (wall < this.#highestAt) {
      const byMs = this.#highestAt - wall
      if (byMs > toleranceMs) return { kind: 'behind', byMs, againAt: wall + Math.min(byMs, confirmMs) }
      return { kind: 'ok', now: this.#highestAt }
    }
    const jumpMs = this.#jumpMs({ wall, monotonicMs })
    const doubt = this.#doubt({ wall, monotonicMs }, jumpMs)
    if (doubt !== undefined) return doubt
    this.#trusted = { wall, monotonicMs }
    this.#highestAt = wall
    if (jumpMs > hourMs) for (const hear of this.#hearers) hear(wall)
    return { kind: 'ok', now: wall }
  }

  /** Calls back with a doubted time as soon as it is accepted. */
  onAccepted(hear: (at: Instant) => void): () => void {
    this.#hearers.add(hear)
    return () => void this.#hearers.delete(hear)
  }

  /** Accepts a time that another guard of this process has accepted, so that all guards of a process agree. */
  accept(at: Instant): void {
    if (at <= this.#highestAt) return
    this.#trusted = { wall: at, monotonicMs: this.#clock.monotonicMs() }
    this.#highestAt = at
    this.#doubted = undefined
  }

  /**
   * For how long `now` has moved with elapsed time; infinite if it never jumped. After a jump, as when a machine wakes
   * up or a doubted time is accepted, leases look older than they are: a holder gets the length of its lease to renew
   * it.
   */
  steadyMs(): number {
    this.#noteJump()
    return this.#clock.monotonicMs() - this.#jumpedMs
  }

  #refusal(): RotaError {
    const [wall, highest] = [formatInstant(this.#clock.now()), formatInstant(this.#highestAt)]
    const message = `the wall clock shows ${wall}, but nothing in the store is later than ${highest}`
    return new RotaError('CLOCK_JUMP', `${message}; correct the clock, or use --accept-clock if it is right`)
  }

  #noteJump(): void {
    const wall = this.now()
    const monotonicMs = this.#clock.monotonicMs()
    const last = this.#noted ?? { wall, monotonicMs }
    if (wall - last.wall - (monotonicMs - last.monotonicMs) > toleranceMs) this.#jumpedMs = monotonicMs
    this.#noted = { wall, monotonicMs }
  }

  /** The last accepted reading plus the elapsed time. */
  #projected(): number {
    const { wall, monotonicMs } = this.#trusted ?? this.#start
    return wall + (this.#clock.monotonicMs() - monotonicMs)
  }

  #doubt(reading: Reading, jumpMs: number): ClockReading | undefined {
    if (jumpMs <= hourMs) {
      this.#doubted = undefined
      return undefined
    }
    if (jumpMs > yearMs && !this.#acceptClock) {
      this.#doubted = reading
      return { kind: 'refused', byMs: jumpMs, againAt: reading.wall + confirmMs }
    }
    if (this.#confirms(reading)) {
      this.#doubted = undefined
      return undefined
    }
    const since = this.#doubted ?? reading
    this.#doubted = since
    // The wall clock shows whole milliseconds, so it may arrive slightly before the ten seconds have passed.
    const againAt = Math.max(since.wall + confirmMs, reading.wall + 1)
    return { kind: 'unsure', byMs: jumpMs, againAt }
  }

  /** How far the wall clock is ahead of the elapsed time. */
  #jumpMs(reading: Reading): number {
    if (this.#trusted !== undefined) {
      return reading.wall - this.#trusted.wall - (reading.monotonicMs - this.#trusted.monotonicMs)
    }
    if (this.#highestAt === 0) return 0
    return reading.wall - this.#highestAt - this.#clock.uptimeMs()
  }

  /** Whether a doubted reading is at least ten seconds old and both clocks have moved equally since. */
  #confirms(reading: Reading): boolean {
    if (this.#doubted === undefined) return false
    const passedMs = reading.monotonicMs - this.#doubted.monotonicMs
    const movedMs = reading.wall - this.#doubted.wall
    if (Math.abs(movedMs - passedMs) > toleranceMs) {
      this.#doubted = reading
      return false
    }
    return passedMs >= confirmMs
  }
}

/**
 * The latest possible time of a jump, by the monotonic clock. If the store records no steady time until now, the jump
 * may be now, and the next process counts from here.
 */
async function lastJump(store: Store, clock: Clock, history: 'kept' | 'read'): Promise<number> {
  const reading: Reading = { wall: clock.now(), monotonicMs: clock.monotonicMs() }
  const { kind, name, item } = clockStateKey
  const [note] = await store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  const sinceMs = steadySinceMs(note, reading)
  if (sinceMs !== undefined) return sinceMs
  if (history === 'kept') {
    const change = { ...clockStateKey, revision: note?.revision ?? 0, value: clockStateValue(reading) }
    // It is stale if another process has just recorded the same.
    await store.changeState({ changes: [change], now: reading.wall })
  }
  return reading.monotonicMs
}

/** Both clocks at one moment. */
type Reading = ClockPair
