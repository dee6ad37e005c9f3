import { writeNotice } from '../../../engine/notices.js'
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
import { delayText, isBehind } from '../health/behind.js'
import { readRecords } from '../record.js'
import type { Sensed } from './read-poll.js'
import type { Tick } from '../../../kernel/tick/tick.js'
import type { Instant } from '../../../time/instant.js'
import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../../engine/feature-loop.js'
import { backOffMs, isFatal, type Look } from '../../../engine/loop.js'
import type { Events } from '../../../engine/events.js'
import { tracedSensor } from '../../../engine/worker/error-tracer.js'
import { cleanUpSensor, poll, settledWithin, type Polled } from './poll.js'
import {
  commitPoll,
  readFacts,
  releasePoll,
  withRecords,
  type CommitContext,
  type CommittedPoll,
} from './commit.js'
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
    isOfDefinitions: true,
    begin: (context) => new Sensors({ ...context, sensors }),
  }
}

/** How many polls run at the same time; those that ignore their signal do not count. */
const mostAtOnce = 256

/** A poll that ignores its signal keeps its sensor from being polled for this many timeouts. */
const patience = 10

/** Polls due sensors, each separately: a sensor that throws, hangs or leaks does not affect the others. */
class Sensors implements RunningLoop {
  readonly #options: SensorsOptions
  readonly #polls = new Map<string, PollUnderWay>()
  readonly #watches: SensorWatches
  readonly #ending = new AbortController()
  #count = 0

  constructor(options: SensorsOptions) {
    this.#options = options
    // Every poll in progress adds a listener.
    setMaxListeners(0, this.#ending.signal)
    this.#watches = new SensorWatches(options)
    this.#watches.start()
  }

  /** One step: starts the due polls and returns when to check again. */
  async step(): Promise<Look> {
    const { store, guard, sensors } = this.#options
    const reading = guard.read()
    // The scheduler reports problems with the clock.
    if (reading.kind !== 'ok') return { at: reading.againAt }
    const { now } = reading
    const idle = [...sensors.keys()].filter((name) => !this.#polls.has(name))
    await this.#followHints(idle, now)
    const room = mostAtOnce - [...this.#polls.values()].filter(({ isStuck }) => !isStuck).length
    if (room <= 0 || idle.length === 0) return { at: Infinity }
    const due = await store.due({ now, limit: room, sensors: idle })
    if (due.length > 0) {
      await this.#claim(await withRecords(store, due), now)
      return { afterMs: 0 }
    }
    const next = await store.nextTickAt({ now, sensors: idle })
    return { at: Math.max(next ?? Infinity, now + 1) }
  }

  /** Stops: the signals of running polls abort, results that they still return are kept, and every sensor is cleaned up. */
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
      if (answers[index] !== 'ticked' || kind !== 'poll') continue
      this.#begin(facts, now)
      if (isBehind(facts)) await this.#noteBehind(facts, now)
    }
  }

  /** Once for each poll that begins late. */
  async #noteBehind({ due, record }: SensorFacts, now: Instant): Promise<void> {
    const { name } = due.trigger
    const text = `its poll began ${delayText(record.lagMs)} late`
    const about = { on: 'sensor-behind', at: now, job: null, trigger: name, run: null, dueAt: null } as const
    await writeNotice(this.#options.store, { ...about, text }, `${name} ${now - record.lagMs}`)
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
      tracedSensor(name, events).fail(error)
    })
  }

  async #pollOne(begun: {
    readonly facts: SensorFacts
    readonly configured: ConfiguredSensor
    readonly startedAt: Instant
    readonly underWay: PollUnderWay
  }): Promise<void> {
    const { clock, events, tracer, wake, pollMs } = this.#options
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
      onLateError: (error) => tracedSensor(name, events).fail(error),
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
    // A sensor whose next poll is further away is found by the slow poll of the loop.
    if (isFull || (nextAt ?? 0) - startedAt < pollMs) wake()
  }

  /** A sensor is not polled again until its stuck poll has ended, or for ten timeouts. */
  async #awaitStuck(name: string, { unsettled, limitMs }: { unsettled: Promise<void>; limitMs: number }) {
    const { clock, wake } = this.#options
    await settledWithin(clock, limitMs, unsettled, this.#ending.signal)
    this.#polls.delete(name)
    if (!this.#ending.signal.aborted) wake()
  }

  /** Stores the result of a poll; if the store is unreachable, tries again as long as this process has the claim. Returns the next step. */
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
    const { store, events, guard } = this.#options
    const { name } = facts.due.trigger
    let wasHinted = false
    const isHinted = (): boolean => (wasHinted = this.#watches.isHinted(name))
    const committed = await commitPoll(this.#commitContext(), facts, { sensed, startedAt, isHinted })
    if (committed === undefined) return undefined
    if (wasHinted) this.#watches.taken(name)
    const { tick, failures } = committed
    tellPoll(events, facts, { ...committed, sensed })
    if (sensed.kind === 'error' && isToBePaused(facts.spec, failures)) {
      const reason = sensed.reason ?? ''
      const note = `${failures} polls in a row failed, the last one: ${reason}`
      const now = guard.now()
      const about = { on: 'paused', at: now, job: null, trigger: name, run: null, dueAt: null } as const
      // Before the pause: if the process is killed in between, the next poll fails again and pauses then.
      await writeNotice(store, { ...about, text: `Rota paused it: ${note}` }, `${name} ${facts.due.revision}`)
      await store.hold({ target: `trigger:${name}`, now, actor: 'rota', note })
      events.emit('sensor:paused', { sensor: name, failures, reason })
    }
    return tick.nextAt
  }

  /** A hint counts only for a sensor that waits for its interval; it shortens no pause, no backoff and no poll of another process. */
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
    return { store, now: () => guard.now(), onRuns, events }
  }

  async #cleanUp(): Promise<void> {
    const { store, sensors, clock, events, tracer } = this.#options
    const ended = [...sensors].filter(([, { sensor }]) => sensor.cleanup !== undefined)
    const names = ended.map(([name]) => name)
    const stored = await readRecords(store, names).catch(() => undefined)
    await Promise.all(
      ended.map(async ([name, configured]) => {
        const record = stored?.(name).record
        if (record?.isInitialized !== true) return
        await cleanUpSensor(name, configured, { state: record.state, clock, events, tracer })
      }),
    )
  }
}

interface PollUnderWay {
  /** Whether it ignored its signal. */
  isStuck: boolean
  ended: Promise<void>
}

function tellPoll(events: Events, { record }: SensorFacts, poll: CommittedPoll & { sensed: Sensed }): void {
  const { sensed, tick, fresh, failures } = poll
  const { trigger: sensor, at, nextAt = at } = tick
  const { kind, reason } = verdictOf(sensed, fresh)
  const found = { observations: sensed.observations.length, fresh, lagMs: record.lagMs }
  events.emit('sensor:polled', { sensor, at, kind, reason, ...found })
  if (kind === 'error') {
    const broken = isBroken({ failures })
    events.emit('sensor:failed', { sensor, reason: reason ?? '', failures, broken, retryInMs: nextAt - at })
  } else if (record.failures > 0) {
    events.emit('sensor:recovered', { sensor, failures: record.failures })
  }
}
