import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../kernel/job/define-job.js'
import { defineRound, tooSeldom } from './definition.js'
import { serviceEffect } from './end-effect.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { Json } from '../../kernel/definition/json.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { StateEntry, StateKey } from '../../kernel/state/state-entry.js'
import { listedTiming, whyNotDue } from './due-services.js'
import { closeRound, planRound, type Revisioned, type RoundFacts } from './plan.js'
import type { Cycle, ServiceTiming } from './round.js'
import type { NewRun } from '../../kernel/run/run.js'
import { scheduleOf } from '../../kernel/trigger/schedule.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'

const t0 = Date.UTC(2026, 0, 5, 10)
const minute = 60_000
const hour = 60 * minute

const job = (name: string) => defineJob(name, { handler: () => undefined })

/** A round as the store would return it, updated by its ticks and the ends of its runs. */
class World {
  readonly notes = new Map<string, StateEntry>()
  readonly runs: NewRun[] = []
  readonly ranges: LedgerRange[] = []
  readonly jobs = new Map(['a', 'b', 'c'].map((name) => [name, job(name)]))
  due: DueTrigger

  constructor(
    everyMs = hour,
    services: readonly (string | { job: string; every: number })[] = ['a', 'b', 'c'],
  ) {
    const trigger = defineRound('r', { every: everyMs, services })
    this.due = {
      trigger: { ...trigger, schedule: { ...trigger.schedule, anchorAt: t0 } as typeof trigger.schedule },
      source: 'code:test',
      version: 1,
      revision: 1,
      definedAt: t0,
      cursorAt: t0 - 1,
      nextAt: t0,
      chainRun: undefined,
      active: true,
      jobDefinition: job('a'),
      holds: [],
      unfinished: [],
    }
  }

  get cycle(): Cycle | undefined {
    return this.notes.get('cycle r')?.value as unknown as Cycle | undefined
  }

  timing(name: string): ServiceTiming | undefined {
    return this.notes.get(`service ${name}`)?.value as unknown as ServiceTiming | undefined
  }

  facts(isResumed = false): RoundFacts {
    const noted = <Value>(key: string): Revisioned<Value> | undefined => {
      const note = this.notes.get(key)
      return note && { value: note.value as Value, revision: note.revision }
    }
    const timings = ['a', 'b', 'c'].flatMap((name): [string, Revisioned<ServiceTiming>][] => {
      const timing = noted<ServiceTiming>(`service ${name}`)
      return timing === undefined ? [] : [[name, timing]]
    })
    return { cycle: noted<Cycle>('cycle r'), timings: new Map(timings), jobs: this.jobs, isResumed }
  }

  tick(now: number): Tick {
    const tick = planRound(this.due, this.facts(), now)
    this.apply(tick)
    return tick
  }

  apply(tick: Tick): void {
    for (const { revision, ...change } of tick.stateChanges ?? []) {
      if (revision !== undefined) expect(revision).toBe(this.#revision(change))
      this.#write(change, change.value, tick.at)
    }
    this.runs.push(...tick.runs)
    this.ranges.push(...tick.ranges)
    const { cursorAt, nextAt } = tick
    this.due = { ...this.due, cursorAt, nextAt, revision: this.due.revision + 1 }
  }

  /** The current service ends, as a store writes it. */
  end(isDone: boolean, at: number): void {
    const run = this.runs.find(({ id }) => id === this.cycle?.current?.run) as NewRun
    const ended = {
      ...run,
      trigger: run.trigger,
      partition: undefined,
      state: isDone ? 'done' : 'failed',
      startedAt: at,
      at,
      error: undefined,
      reason: undefined,
    } as const
    const keys = serviceEffect.reads?.(ended) ?? []
    const values = keys.map((key) => this.notes.get(`${key.kind} ${key.name}`)?.value)
    for (const change of serviceEffect.changes?.(ended, values) ?? []) this.#write(change, change.value, at)
    this.due = { ...this.due, revision: this.due.revision + 1, nextAt: Math.min(at, this.due.nextAt ?? at) }
  }

  hold(hold: Partial<Hold>): void {
    const usual = { id: 1, target: 'trigger:r', untilAt: undefined, actor: 'me', note: '', catchUp: false }
    this.due = { ...this.due, holds: [{ ...usual, fromAt: t0, ...hold } as Hold] }
  }

  #revision({ kind, name }: StateKey): number {
    return this.notes.get(`${kind} ${name}`)?.revision ?? 0
  }

  #write(key: StateKey, value: Json | undefined, at: number): void {
    const text = `${key.kind} ${key.name}`
    if (value === undefined) this.notes.delete(text)
    else this.notes.set(text, { ...key, value, revision: this.#revision(key) + 1, at })
  }
}

describe('planRound', () => {
  it('starts the first due service, and writes its run, timing and cycle', () => {
    const world = new World()
    const tick = world.tick(t0 + 5)
    expect(tick).toMatchObject({ cursorAt: t0 + 5, nextAt: t0 + hour })
    expect(tick.runs).toMatchObject([
      { job: 'a', origin: 'round', trigger: 'r', dueAt: t0, runAt: t0 + 5, endEffect: 'service' },
    ])
    expect(tick.runs[0]?.slots).toEqual([
      { key: 'trigger:r', limit: 1 },
      { key: 'service:a', limit: 1 },
    ])
    expect(tick.ranges).toMatchObject([{ firstAt: t0, reason: 'checked', detail: 'due a, b, c' }])
    expect(world.cycle).toMatchObject({ checkedAt: t0, beganAt: t0 + 5, queue: ['b', 'c'] })
    expect(world.timing('b')).toEqual({
      lastRunAt: null,
      everyMs: hour,
      listedMs: hour,
      triedAt: null,
      inFlight: null,
    })
  })

  it('plans the same tick twice from the same facts', () => {
    const world = new World()
    expect(planRound(world.due, world.facts(), t0 + 5)).toEqual(planRound(world.due, world.facts(), t0 + 5))
  })

  it('checks the timing again before it starts the next service', () => {
    const world = new World()
    world.tick(t0)
    world.end(true, t0 + 1)
    const elsewhere = { run: 'x', round: 'other' }
    const timing = { ...(world.timing('b') as ServiceTiming), inFlight: elsewhere }
    world.notes.set('service b', {
      ...(world.notes.get('service b') as StateEntry),
      value: timing,
    })
    const tick = world.tick(t0 + 1)
    expect(tick.runs.map(({ job: name }) => name)).toEqual(['c'])
    expect(world.cycle?.skipped).toEqual([{ service: 'b', reason: 'in_flight', round: 'other' }])
    expect(tick.ranges).toMatchObject([{ firstAt: t0, detail: 'skipped b (in_flight, in other)' }])
  })

  it('closes the cycle if no remaining service is due, and makes the check that became due meanwhile', () => {
    const world = new World(hour, ['a', 'b'])
    world.tick(t0)
    world.end(true, t0 + 1)
    const timing = { ...(world.timing('b') as ServiceTiming), lastRunAt: t0 }
    world.notes.set('service b', {
      ...(world.notes.get('service b') as StateEntry),
      value: timing,
    })
    const tick = world.tick(t0 + hour)
    expect(tick.runs.map(({ job: name, dueAt }) => [name, dueAt])).toEqual([['a', t0 + hour]])
    expect(world.cycle).toMatchObject({ checkedAt: t0 + hour, results: [] })
  })

  it('skips a service that is no longer in the list', () => {
    const world = new World()
    world.tick(t0)
    world.end(true, t0 + 1)
    const { trigger } = world.due
    world.due = { ...world.due, trigger: { ...trigger, round: { services: [{ job: 'c', everyMs: hour }] } } }
    expect(world.tick(t0 + 1).runs.map(({ job: name }) => name)).toEqual(['c'])
    expect(world.cycle?.skipped).toEqual([{ service: 'b', reason: 'replaced' }])
  })

  it('R7: marks a resumed cycle', () => {
    const world = new World()
    world.tick(t0)
    world.end(true, t0 + 1)
    world.apply(planRound(world.due, world.facts(true), t0 + 1))
    expect(world.cycle?.resumed).toBe(true)
  })

  it('throws if the job of a service is missing', () => {
    const world = new World()
    world.jobs.delete('a')
    expect(() => world.tick(t0)).toThrow('the service a is not a job of this store')
  })

  it('changes nothing while it is paused, and ticks when the pause ends', () => {
    const world = new World()
    world.hold({ fromAt: t0 - 5, untilAt: t0 + 90 * minute })
    const tick = world.tick(t0 + hour)
    expect(tick).toMatchObject({
      cursorAt: t0 - 1,
      nextAt: t0 + 90 * minute,
      runs: [],
      ranges: [],
      stateChanges: [],
    })
    const after = world.tick(t0 + 2 * hour)
    expect(after.ranges.map(({ reason, firstAt, lastAt }) => [reason, firstAt, lastAt])).toEqual([
      ['paused', t0, t0 + hour],
      ['checked', t0 + 2 * hour, t0 + 2 * hour],
    ])
  })
})

describe('closeRound', () => {
  it('drops the remaining services if another list follows, and lets the current one finish', () => {
    const world = new World()
    world.tick(t0)
    const tick = closeRound(world.due, world.cycle, { now: t0 + hour, isReplaced: true })
    expect(tick.runs).toEqual([])
    expect(tick.ranges).toMatchObject([
      { firstAt: t0, reason: 'checked', detail: 'skipped b (replaced), c (replaced)' },
      { firstAt: t0 + hour, reason: 'collapsed', detail: 'the new list' },
    ])
    world.apply(tick)
    expect(world.cycle).toMatchObject({ queue: [], current: { service: 'a' } })
  })

  it('removes a cycle without a current service', () => {
    const world = new World()
    world.tick(t0)
    world.end(true, t0 + 1)
    world.apply(closeRound(world.due, world.cycle, { now: t0 + 2, isReplaced: true }))
    expect(world.cycle).toBeUndefined()
  })

  it('R9: keeps the state of a round that is stopped', () => {
    const world = new World()
    world.tick(t0)
    const tick = closeRound(world.due, world.cycle, { now: t0 + 2, isReplaced: false })
    expect(tick.stateChanges).toEqual([])
  })
})

describe('the timing of a service', () => {
  const known = { lastRunAt: t0, everyMs: hour, listedMs: hour, triedAt: t0, inFlight: null }

  const hourly = defineRound('hourly', { every: '1h', services: ['a'] })
  const daily = defineRound('daily', { every: '24h', services: ['a'] })

  it('R5: set by hand, applies in all rounds whose lists give no interval', () => {
    const set = { ...known, everyMs: 5 * hour, isSet: true } as const
    const held = listedTiming(hourly, { job: 'a', everyMs: hour }, set)
    expect(held).toEqual({ ...set, listedMs: 0 })
    expect(listedTiming(daily, { job: 'a', everyMs: 24 * hour }, held)).toBe(held)
    const written = listedTiming(daily, { job: 'a', everyMs: 3 * hour }, held)
    expect(written).toEqual({ ...known, everyMs: 3 * hour, listedMs: 3 * hour })
  })

  it('reports a service that is due more often than its round checks', () => {
    expect(tooSeldom(hourly)).toBeUndefined()
    expect(tooSeldom(defineRound('r', { every: '7h', services: ['a', { job: 'b', every: '1h' }] }))).toBe(
      'b every 1h in a round that checks every 7h: it runs at its checks only',
    )
  })

  it('follows the list when the list gives a different interval', () => {
    expect(listedTiming(hourly, { job: 'a', everyMs: 2 * hour }, known)).toMatchObject({ everyMs: 2 * hour })
  })

  it('R5: keeps what was set by hand until then', () => {
    const set = { ...known, everyMs: 5 * hour }
    expect(listedTiming(hourly, { job: 'a', everyMs: hour }, set)).toBe(set)
    const before = { ...set, listedMs: null }
    expect(listedTiming(hourly, { job: 'a', everyMs: hour }, before)).toEqual({ ...set, listedMs: hour })
  })

  it('R4: makes a service due if it never ran or its interval has passed at the check', () => {
    const never = { ...known, lastRunAt: null, triedAt: null }
    expect(whyNotDue('a', never, t0)).toBeUndefined()
    expect(whyNotDue('a', known, t0 + hour)).toBeUndefined()
    expect(whyNotDue('a', known, t0 + hour - 1)).toEqual({
      service: 'a',
      reason: 'not_due',
      dueAt: t0 + hour,
    })
    expect(whyNotDue('a', { ...known, lastRunAt: null }, t0)).toEqual({ service: 'a', reason: 'tried' })
  })
})

describe('in any sequence of events', () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('end' as const), isDone: fc.boolean() }),
    fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 20_000, 7 * minute, 61 * minute, 5 * hour),
    }),
    // Downtime of the scheduler.
    fc.record({ kind: fc.constant('down' as const), ms: fc.constantFrom(1000, 30 * minute, 4 * hour) }),
  )

  it('services run in order, once for a check, only when due, and every check is accounted for', () => {
    fc.assert(
      fc.property(fc.array(move, { minLength: 1, maxLength: 60 }), (moves) => {
        const world = new World(hour, ['a', { job: 'b', every: 3 * hour }, 'c'])
        let now = t0
        world.tick(now)
        for (const one of moves) {
          if (one.kind === 'end' && world.cycle?.current) world.end(one.isDone, now)
          if (one.kind !== 'end') now += one.ms
          if (one.kind === 'down') continue
          for (let i = 0; (world.due.nextAt ?? Infinity) <= now; i++) {
            expect(i).toBeLessThan(5)
            const { nextAt } = world.tick(now)
            expect(nextAt).toBeGreaterThan(now)
          }
          checkState(world)
        }
        checkRuns(world)
        checkLedger(world)
      }),
    )
  })
})

const order = ['a', 'b', 'c']

function checkState({ cycle }: World): void {
  if (cycle === undefined) return
  const all = [
    ...cycle.results.map(({ service }) => service),
    ...(cycle.current ? [cycle.current.service] : []),
  ]
  expect(new Set([...all, ...cycle.queue]).size).toBe(all.length + cycle.queue.length)
  expect(cycle.current !== null || cycle.queue.length > 0).toBe(true)
}

function checkRuns({ runs }: World): void {
  const keys = runs.map(({ job: name, dueAt }) => dueAt * 10 + order.indexOf(name))
  expect(keys).toEqual([...new Set(keys)].toSorted((a, b) => a - b))
}

function checkLedger({ ranges, due }: World): void {
  const schedule = scheduleOf(due.trigger.schedule)
  for (let at = schedule.next(t0 - 1) ?? 0; at <= due.cursorAt; at = schedule.next(at) ?? Infinity) {
    const over = ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt)
    const firsts = over.filter(({ rule }) => rule !== 'round:later')
    expect(firsts).toHaveLength(1)
  }
}
