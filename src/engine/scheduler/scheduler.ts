import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { ClockDoubt, ClockGuard } from './clock-guard.js'
import type { Events } from '../events.js'
import type { Look } from '../loop.js'
import { wakeForCommit } from '../worker/wake-for-commit.js'
import { hasMissed, withMissedNotices } from '../notices.js'
import { factsOf, kindOf, type TriggerKinds } from '../trigger-kind.js'
import { PlannedAhead } from './planned-ahead.js'

/** What a scheduler needs. */
export interface SchedulerOptions {
  readonly store: Store
  readonly kinds: TriggerKinds
  readonly clock: Clock
  readonly guard: ClockGuard
  readonly events: Events
  /** Called while a few ticks are being committed, if a worker's turn can join the commit; otherwise after it. */
  readonly onRuns: () => void
}

/** From this number of ticks on, the turn of a worker should not wait for their commit. */
const manyTicks = 50

/** How many due triggers are read at once. */
const mostDue = 1000

/** How many ticks one transaction commits, and how many the first one: a worker begins with those meanwhile. */
const batch = 225
const firstBatch = 100

const retryFaultyMs = 60_000
const tellClockMs = 10_000

/** How long a scheduler leaves due triggers to another one that is quicker. */
const courtesyMs = 100

/** After so many commits in a row that lost the race. */
const lostUntilSecond = 3

/** How far ahead the other triggers are read while one cannot be evaluated. */
const aheadMs = 10_000

/** Plans what is due and commits it. Its memory only saves repeated reports and work; the store is authoritative. */
export class Scheduler {
  readonly #options: SchedulerOptions
  /** Only with a store that can tell that nothing has changed. */
  readonly #ahead: PlannedAhead | undefined
  /** Triggers that could not be evaluated: their revision, and when they are tried again. */
  #faulty: ReadonlyMap<string, Faulty> = new Map()
  #told: { readonly kind: ClockDoubt['kind']; readonly atMs: number } | undefined
  /** How many commits in a row had mostly stale ticks. */
  #lostInARow = 0
  /** When it first looked: cycles that began earlier are resumed. */
  #startedAt: Instant | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#ahead = options.store.stamp === undefined ? undefined : new PlannedAhead(options)
  }

  /**
   * Whether another scheduler is quicker. All of them wake at the same instant and would plan the same ticks, of which
   * one counts. So the slower ones wait a moment, and find something only if the quick one does not. A single stale tick
   * has another reason: a hold or a definition has changed its trigger meanwhile.
   */
  get #isSecond(): boolean {
    return this.#lostInARow >= lostUntilSecond
  }

  /** One look at the triggers: plans what is due, commits it, and returns when to look again. */
  async step(): Promise<Look> {
    const { store, kinds, guard } = this.#options
    const reading = guard.read()
    if (reading.kind !== 'ok') {
      this.#tellClock(reading)
      return { at: reading.againAt }
    }
    this.#told = undefined
    const { now } = reading
    const ahead = this.#ahead === undefined ? [] : await this.#ahead.take(now)
    await this.#commit(ahead)
    if (ahead.length > 0) return { afterMs: 0 }
    if (this.#isSecond) {
      const firstAt = (await store.nextTickAt({ now })) ?? Infinity
      if (firstAt + courtesyMs > now) return { at: firstAt + courtesyMs }
    }
    const limit = mostDue + this.#faulty.size
    const due = await store.due({ now, limit })
    this.#startedAt ??= now
    const facts =
      due.length === 0 ? noFacts : await factsOf(store, due, { kinds, now, startedAt: this.#startedAt })
    const ticks = this.#plan(due, now, facts)
    await this.#commit(ticks)
    if (this.#isSecond && ticks.length > 0) return { afterMs: courtesyMs }
    if (due.length === limit) return { afterMs: 0 }
    const mayBeDue = ticks.length > 0
    const next =
      due.length === 0 || mayBeDue ? await store.nextTickAt({ now }) : await this.#nextOfOthers(now)
    // A planned trigger may have more to catch up, and another scheduler may have changed it.
    if (mayBeDue && (next ?? Infinity) <= now) return { afterMs: 0 }
    // Whatever the store returns, it is not read again within the same millisecond.
    const nextAt = (next ?? Infinity) + (this.#isSecond ? courtesyMs : 0)
    const at = this.#ahead === undefined || this.#isSecond ? nextAt : await this.#ahead.lookAt(nextAt, now)
    return { at: Math.max(at, now + 1) }
  }

  /** Commits ticks in batches, until most of a batch were stale. */
  async #commit(planned: readonly Tick[]): Promise<void> {
    for (let start = 0, size = firstBatch; start < planned.length; start += size, size = batch) {
      const ticks = planned.slice(start, start + size)
      const answers = await commit(ticks, this.#options)
      const timed = answers.filter((_, i) => isTimed(ticks[i] as Tick))
      const isLost = timed.filter((answer) => answer === 'stale').length * 2 > timed.length
      if (timed.length > 0) this.#lostInARow = isLost ? this.#lostInARow + 1 : 0
      if (isLost) return
    }
  }

  /** A trigger that cannot be evaluated here is reported and left unchanged; the others continue. */
  #plan(due: readonly DueTrigger[], now: Instant, facts: ReadonlyMap<string, unknown>): Tick[] {
    const { events, clock, kinds } = this.#options
    const ticks: Tick[] = []
    if (due.length === 0 && this.#faulty.size === 0) return ticks
    const faulty = new Map<string, Faulty>()
    for (const one of due) {
      const { name } = one.trigger
      const known = this.#faulty.get(name)
      if (known?.revision === one.revision && clock.monotonicMs() < known.againMs) {
        faulty.set(name, known)
        continue
      }
      try {
        const tick = kindOf(kinds, one.trigger).plan?.(one, facts.get(name), now)
        if (tick !== undefined) ticks.push(tick)
      } catch (error) {
        faulty.set(name, { revision: one.revision, againMs: clock.monotonicMs() + retryFaultyMs })
        events.emit('trouble', { where: `trigger ${name}`, error, retryInMs: retryFaultyMs })
      }
    }
    this.#faulty = faulty
    return ticks
  }

  /** When the first trigger is due, without the faulty ones, whose own instants are in the past. */
  async #nextOfOthers(now: Instant): Promise<Instant> {
    const limit = mostDue + this.#faulty.size
    const soon = await this.#options.store.due({ now: now + aheadMs, limit })
    const first = soon.find(({ trigger, revision }) => this.#faulty.get(trigger.name)?.revision !== revision)
    return first?.nextAt ?? now + aheadMs
  }

  /** Hints may wake the scheduler often while the clock is wrong: reports the doubt when it begins and then rarely. */
  #tellClock(reading: ClockDoubt): void {
    const { clock, events } = this.#options
    const atMs = clock.monotonicMs()
    if (this.#told?.kind === reading.kind && atMs - this.#told.atMs < tellClockMs) return
    this.#told = { kind: reading.kind, atMs }
    events.emit('clock', { kind: reading.kind, byMs: reading.byMs })
  }
}

const noFacts: ReadonlyMap<string, unknown> = new Map()

interface Faulty {
  readonly revision: number
  readonly againMs: number
}

/** Commits ticks. */
async function commit(
  planned: readonly Tick[],
  { store, events, onRuns }: SchedulerOptions,
): Promise<readonly ('ticked' | 'stale')[]> {
  const ticks = planned.some(hasMissed) ? await withMissedNotices(store, planned) : planned
  const hasRuns = ticks.some((tick) => tick.runs.length > 0 || tick.supersede !== undefined)
  const committed = store.tick(ticks)
  const isJoined = hasRuns && ticks.length < manyTicks
  const answers = isJoined ? await wakeForCommit(store, committed, onRuns) : await committed
  if (hasRuns && !isJoined) onRuns()
  for (const [index, tick] of ticks.entries()) {
    if (answers[index] === 'stale') continue
    const { trigger, at, runs, ranges, checks } = tick
    events.emit('tick', { trigger, at, runs, ranges, ...(checks === undefined ? {} : { checks }) })
  }
  return answers
}

/** Whether only another scheduler, a hold or a definition makes a tick stale; others also depend on state that runs change. */
function isTimed({ stateChanges, takesArrivals }: Tick): boolean {
  return stateChanges === undefined && takesArrivals !== true
}
