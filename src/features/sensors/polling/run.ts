import { setMaxListeners } from 'node:events'
import type { ConfiguredSensor } from '../sensor.js'
import {
  claimPoll,
  hintTick,
  isBroken,
  isPolled,
  isToBePaused,
  verdictOf,
  type SensorFacts,
} from '../plan.js'
import { recordOf } from '../record.js'
import type { Sensed } from './read-poll.js'
import type { Tick } from '../../../kernel/tick/tick.js'
import type { Instant } from '../../../time/instant.js'
import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../../engine/feature-loop.js'
import { backOffMs, isFatal, type Look } from '../../../engine/loop.js'
import { poll, type Polled } from './poll.js'
import { cleanUpSensor } from './cleanup.js'
import { commitPoll, readFacts, releasePoll, withNotes, type CommitContext } from './commit.js'
import { SensorWatches } from './watches.js'

/** What the loop of the sensors needs. */
interface SensorsOptions extends FeatureLoopContext {
  /** The sensors that this process can poll, by the names of their triggers. */
  readonly sensors: ReadonlyMap<string, ConfiguredSensor>
}

/** The loop that polls the sensors of this process. */
export function sensorLoop(sensors: ReadonlyMap<string, ConfiguredSensor>): FeatureLoop {
  return {
    name: 'sensors',
    begin: (context) => {
      const polled = new Sensors({ ...context, sensors })
      polled.start()
      return polled
    },
  }
}

/** How many polls go on at once; those that ignore their signal do not count. */
const mostAtOnce = 256

/** A sensor whose next poll is further away than this is found by the slow poll of the loop. */
const soonMs = 2000

/** A poll that ignores its signal keeps its sensor from being polled for this many timeouts. */
const patience = 10

/** Polls what is due, each sensor on its own: one that throws, hangs or leaks touches no other. */
class Sensors implements RunningLoop {
  readonly #options: SensorsOptions
  readonly #polls = new Map<string, PollUnderWay>()
  readonly #watches: SensorWatches
  readonly #ending = new AbortController()
  #count = 0

  constructor(options: SensorsOptions) {
    this.#options = options
    // Every poll under way listens to it.
    setMaxListeners(0, this.#ending.signal)
    this.#watches = new SensorWatches(options)
  }

  /** Begins to listen to those sensors that can say when there may be something to find. */
  start(): void {
    this.#watches.start()
  }

  /** One look: begins the polls that are due and says when to look again. */
  async step(): Promise<Look> {
    const { store, guard, sensors } = this.#options
    const reading = guard.read()
    // What is wrong with the clock is the scheduler's to tell.
    if (reading.kind !== 'ok') return { at: reading.againAt }
    const { now } = reading
    const idle = [...sensors.keys()].filter((name) => !this.#polls.has(name))
    await this.#followHints(idle, now)
    const room = mostAtOnce - [...this.#polls.values()].filter(({ isStuck }) => !isStuck).length
    if (room <= 0 || idle.length === 0) return { at: Infinity }
    const due = await store.due({ now, limit: room, sensors: idle })
    if (due.length > 0) {
      await this.#claim(await withNotes(store, due), now)
      return { afterMs: 0 }
    }
    const next = await store.nextTickAt({ now, sensors: idle })
    return { at: Math.max(next ?? Infinity, now + 1) }
  }

  /** Ends in order: polls under way are told to stop, what they still hand back is kept, and every sensor is cleaned up. */
  async stop(): Promise<void> {
    this.#watches.stop()
    this.#ending.abort()
    const open = [...this.#polls.values()].filter(({ isStuck }) => !isStuck)
    await Promise.all(open.map(({ ended }) => ended))
    await this.#cleanUp()
  }

  async #claim(found: readonly SensorFacts[], now: Instant): Promise<void> {
    const { store, holder } = this.#options
    const claims = found.map((facts) => claimPoll(facts, { now, id: `${holder}#${++this.#count}` }))
    const answers = await store.tick(claims.map(({ tick }) => tick))
    for (const [index, { kind, facts }] of claims.entries()) {
      if (answers[index] === 'ticked' && kind === 'poll') this.#begin(facts, now)
    }
  }

  #begin(facts: SensorFacts, startedAt: Instant): void {
    const { sensors, events } = this.#options
    const { name } = facts.due.trigger
    const configured = sensors.get(name)
    // It may have been removed while its poll was being claimed.
    if (configured === undefined) return
    const underWay: PollUnderWay = { isStuck: false, ended: Promise.resolve() }
    this.#polls.set(name, underWay)
    this.#watches.begun(name)
    underWay.ended = this.#pollOne({ facts, configured, startedAt, underWay }).catch((error: unknown) => {
      this.#polls.delete(name)
      events.emit('trouble', { where: `sensor ${name}`, error, retryInMs: 0 })
    })
  }

  async #pollOne(begun: {
    readonly facts: SensorFacts
    readonly configured: ConfiguredSensor
    readonly startedAt: Instant
    readonly underWay: PollUnderWay
  }): Promise<void> {
    const { clock, events, tracer, wake } = this.#options
    const { facts, configured, startedAt, underWay } = begun
    const { due, spec, record } = facts
    const { name } = due.trigger
    const polled = await poll({
      name,
      configured,
      state: record.isInitialized ? { value: record.state } : undefined,
      now: startedAt,
      timezone: spec.timezone,
      timeoutMs: spec.timeoutMs,
      clock,
      stop: this.#ending.signal,
      tracer,
      onLateError: (error) => events.emit('trouble', { where: `sensor ${name}`, error, retryInMs: 0 }),
    })
    const nextAt = await this.#keep(facts, polled, startedAt)
    if (polled.unsettled !== undefined) {
      underWay.isStuck = true
      if (!polled.isStopped) events.emit('sensor:stuck', { sensor: name, afterMs: spec.timeoutMs })
      void this.#awaitStuck(name, { unsettled: polled.unsettled, limitMs: spec.timeoutMs * patience })
      return
    }
    this.#polls.delete(name)
    const isFull = this.#polls.size >= mostAtOnce - 1
    if (isFull || (nextAt ?? 0) - startedAt < soonMs) wake()
  }

  /** It is not polled beside itself, until it has ended or nobody believes any more that it will. */
  async #awaitStuck(name: string, { unsettled, limitMs }: { unsettled: Promise<void>; limitMs: number }) {
    const { clock, wake } = this.#options
    const given = new AbortController()
    const either = AbortSignal.any([given.signal, this.#ending.signal])
    await Promise.race([unsettled, clock.sleep(limitMs, either)])
    given.abort()
    this.#polls.delete(name)
    if (!this.#ending.signal.aborted) wake()
  }

  /** Keeps what a poll came to; a store that is away is tried again as long as the poll is ours. Gives the next look. */
  async #keep(facts: SensorFacts, polled: Polled, startedAt: Instant): Promise<Instant | undefined> {
    const { clock, events, guard } = this.#options
    const { name } = facts.due.trigger
    for (let failures = 1; ; failures++) {
      try {
        if (polled.isStopped) {
          await releasePoll(this.#commitContext(), facts)
          return undefined
        }
        return await this.#commit(facts, polled.sensed, startedAt)
      } catch (error) {
        if (isFatal(error)) {
          events.emit('fatal', { where: `sensor ${name}`, error })
          return undefined
        }
        const retryInMs = backOffMs(failures, name)
        events.emit('trouble', { where: `sensor ${name}`, error, retryInMs })
        if (this.#ending.signal.aborted || guard.now() >= (facts.open?.untilAt ?? 0)) return undefined
        await clock.sleep(retryInMs, this.#ending.signal)
      }
    }
  }

  async #commit(facts: SensorFacts, sensed: Sensed, startedAt: Instant): Promise<Instant | undefined> {
    const { name } = facts.due.trigger
    let wasHinted = false
    const isHinted = (): boolean => (wasHinted = this.#watches.isHinted(name))
    const committed = await commitPoll(this.#commitContext(), facts, { sensed, startedAt, isHinted })
    if (committed.kind === 'discarded') return undefined
    if (wasHinted) this.#watches.taken(name)
    const { tick, fresh } = committed
    this.#tell(facts, { sensed, tick, fresh })
    const record = recordOf(tick.notes?.[0]?.value)
    if (sensed.kind === 'error' && isToBePaused(facts.spec, record.failures)) {
      await this.#pause(name, record.failures, sensed.reason ?? '')
    }
    return tick.nextAt
  }

  #tell(facts: SensorFacts, end: { sensed: Sensed; tick: Tick; fresh: number }): void {
    const { events } = this.#options
    const { sensed, tick, fresh } = end
    const sensor = tick.trigger
    const { observations } = sensed
    const { kind, reason } = verdictOf(sensed, fresh)
    const { failures } = recordOf(tick.notes?.[0]?.value)
    const found = { observations: observations.length, fresh, lagMs: facts.record.lagMs }
    events.emit('sensor:polled', { sensor, at: tick.at, kind, reason, ...found })
    if (kind === 'error') {
      const retryInMs = (tick.nextAt ?? tick.at) - tick.at
      events.emit('sensor:failed', {
        sensor,
        reason: reason ?? '',
        failures,
        broken: isBroken({ failures }),
        retryInMs,
      })
    } else if (facts.record.failures > 0) {
      events.emit('sensor:recovered', { sensor, failures: facts.record.failures })
    }
  }

  async #pause(name: string, failures: number, reason: string): Promise<void> {
    const { store, events, guard } = this.#options
    const note = `${failures} polls in a row failed, the last one: ${reason}`
    await store.hold({ target: `trigger:${name}`, now: guard.now(), actor: 'rota', note })
    events.emit('sensor:paused', { sensor: name, failures, reason })
  }

  /** A hint counts for a sensor that waits for its interval; it shortens no pause, no back-off and no poll of another process. */
  async #followHints(idle: readonly string[], now: Instant): Promise<void> {
    const { store } = this.#options
    const names = idle.filter((name) => this.#watches.isHinted(name))
    if (names.length === 0) return
    const ticks: Tick[] = []
    for (const facts of await readFacts(store, names, now)) {
      const { due, open, record } = facts
      const { name } = due.trigger
      if ((open?.untilAt ?? 0) > now) continue
      const isNear = due.nextAt !== undefined && due.nextAt <= now
      if (isNear || record.failures > 0 || !isPolled(facts, now)) this.#watches.taken(name)
      else ticks.push(hintTick(facts, now))
    }
    if (ticks.length === 0) return
    const answers = await store.tick(ticks)
    for (const [index, { trigger }] of ticks.entries()) {
      if (answers[index] === 'ticked') this.#watches.taken(trigger)
    }
  }

  #commitContext(): CommitContext {
    const { store, guard, onRuns, events } = this.#options
    return {
      store,
      now: () => guard.now(),
      onRuns,
      onTick: ({ trigger, at, runs, ranges }) => {
        if (runs.length > 0) events.emit('tick', { trigger, at, runs, ranges })
      },
    }
  }

  async #cleanUp(): Promise<void> {
    const { store, sensors, clock, events, tracer } = this.#options
    const names = [...sensors].filter(([, { sensor }]) => sensor.cleanup !== undefined).map(([name]) => name)
    if (names.length === 0) return
    const notes = await store
      .stateEntries({ kind: 'sensor', names, items: [''], limit: names.length })
      .catch(() => [])
    await Promise.all(
      notes.map(async ({ name, value }) => {
        const { isInitialized, state } = recordOf(value)
        const configured = sensors.get(name)
        if (configured === undefined || !isInitialized) return
        await cleanUpSensor(name, configured, { state, clock, events, tracer })
      }),
    )
  }
}

interface PollUnderWay {
  /** Whether it ignored its signal. */
  isStuck: boolean
  ended: Promise<void>
}
