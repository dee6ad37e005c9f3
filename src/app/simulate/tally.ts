import type { Tick } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'

/** How late runs began after their due instants, including jitter, spread and every wait. */
export interface Lateness {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** A maximum and its time. */
export interface Peak {
  readonly count: number
  readonly at: Instant | undefined
}

/** The results of one trigger. */
export interface SimulatedTrigger {
  readonly trigger: string
  readonly runs: number
  readonly failed: number
  readonly late: Lateness
  /** Due instants without a run of their own, by reason. */
  readonly notRun: Readonly<Record<string, number>>
  /** The number of runs in the history from which its durations come. */
  readonly knownRuns: number
  /** When it was paused after failures in a row; a simulation never resumes it. */
  readonly pausedAt: Instant | undefined
}

/** An hour or a day of a simulation. */
export interface SimulatedSpan {
  readonly at: Instant
  readonly runs: number
  readonly failed: number
  readonly maxRunning: number
  readonly maxWaiting: number
}

interface Counted {
  runs: number
  /** The number of runs by delay, rounded to three digits. */
  readonly late: Map<number, number>
  maxMs: number
  failed: number
  readonly notRun: Record<string, number>
}

/** Counts what happens in a simulation. */
export class Tally {
  readonly #triggers = new Map<string, Counted>()
  readonly #spans: { at: Instant; runs: number; failed: number; maxRunning: number; maxWaiting: number }[] =
    []
  readonly #spanMs: number
  #waiting = 0
  #running = 0
  #minute = { at: 0, count: 0 }
  #busyMs = 0
  maxWaiting: Peak = { count: 0, at: undefined }
  maxRunning: Peak = { count: 0, at: undefined }
  busiestMinute: Peak = { count: 0, at: undefined }

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** The total duration of all runs. */
  get busyMs(): number {
    return this.#busyMs
  }

  get spans(): readonly SimulatedSpan[] {
    return this.#spans
  }

  planned(
    tick: Pick<Tick, 'trigger' | 'runs' | 'ranges'>,
    at: Instant,
    countOf: (range: Tick['ranges'][number]) => number,
  ): void {
    const { notRun } = this.#of(tick.trigger)
    for (const range of tick.ranges) notRun[range.reason] = (notRun[range.reason] ?? 0) + countOf(range)
    this.#waiting += tick.runs.length
    if (this.#waiting > this.maxWaiting.count) this.maxWaiting = { count: this.#waiting, at }
    const span = this.#span(at)
    span.maxWaiting = Math.max(span.maxWaiting, this.#waiting)
  }

  /** An attempt begins. */
  began(
    run: { readonly trigger: string; readonly attempt: number; readonly dueAt: Instant },
    at: Instant,
  ): void {
    this.#running += 1
    const span = this.#span(at)
    span.maxRunning = Math.max(span.maxRunning, this.#running)
    if (this.#running > this.maxRunning.count) this.maxRunning = { count: this.#running, at }
    const minute = Math.floor(at / 60_000) * 60_000
    this.#minute = { at: minute, count: this.#minute.at === minute ? this.#minute.count + 1 : 1 }
    if (this.#minute.count > this.busiestMinute.count) this.busiestMinute = this.#minute
    if (run.attempt > 1) return
    this.#waiting -= 1
    span.runs += 1
    const counted = this.#of(run.trigger)
    const lateMs = at - run.dueAt
    counted.runs += 1
    counted.maxMs = Math.max(counted.maxMs, lateMs)
    addTo(counted.late, rounded(lateMs), 1)
  }

  /** An attempt ended, or was lost with its process. */
  ended(tookMs: number): void {
    this.#running -= 1
    this.#busyMs += tookMs
  }

  /** A run finally failed. */
  failed(trigger: string, at: Instant): void {
    this.#of(trigger).failed += 1
    this.#span(at).failed += 1
  }

  /** How late all runs began. */
  late(): Lateness {
    const late = new Map<number, number>()
    let maxMs = 0
    for (const counted of this.#triggers.values()) {
      maxMs = Math.max(maxMs, counted.maxMs)
      for (const [lateMs, count] of counted.late) addTo(late, lateMs, count)
    }
    return lateness(late, maxMs)
  }

  triggers(
    known: (trigger: string) => Pick<SimulatedTrigger, 'knownRuns' | 'pausedAt'>,
  ): readonly SimulatedTrigger[] {
    return [...this.#triggers].map(([trigger, { runs, late, maxMs, failed, notRun }]) => ({
      trigger,
      runs,
      failed,
      late: lateness(late, maxMs),
      notRun,
      ...known(trigger),
    }))
  }

  #of(trigger: string): Counted {
    let counted = this.#triggers.get(trigger)
    if (counted === undefined) {
      counted = { runs: 0, late: new Map(), maxMs: 0, failed: 0, notRun: {} }
      this.#triggers.set(trigger, counted)
    }
    return counted
  }

  #span(at: Instant): { runs: number; failed: number; maxRunning: number; maxWaiting: number } {
    const from = Math.floor(at / this.#spanMs) * this.#spanMs
    const last = this.#spans.at(-1)
    if (last !== undefined && last.at >= from) return last
    const span = { at: from, runs: 0, failed: 0, maxRunning: this.#running, maxWaiting: this.#waiting }
    this.#spans.push(span)
    return span
  }
}

/** Limits the memory for millions of runs: exact below a second, otherwise three digits. */
function rounded(ms: number): number {
  if (ms < 1000) return ms
  const step = 10 ** (Math.floor(Math.log10(ms)) - 2)
  return Math.round(ms / step) * step
}

function addTo(counts: Map<number, number>, key: number, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

function lateness(late: ReadonlyMap<number, number>, maxMs: number): Lateness {
  const sorted = [...late].toSorted(([a], [b]) => a - b)
  const runs = sorted.reduce((sum, [, count]) => sum + count, 0)
  const at = (share: number): number => {
    let rest = Math.ceil(share * runs)
    for (const [lateMs, count] of sorted) if ((rest -= count) <= 0) return Math.min(lateMs, maxMs)
    return 0
  }
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs }
}
