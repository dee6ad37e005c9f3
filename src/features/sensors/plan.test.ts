import { describe, expect, it } from 'vitest'
import { defineJob } from '../../kernel/job/define-job.js'
import { defineSensor } from './definition.js'
import { failedPoll, type Sensed } from './polling/read-poll.js'
import type { SensorSpec } from '../../kernel/trigger/schedule.js'
import {
  backOffAfter,
  claimPoll,
  digestOf,
  endTick,
  isStillOurs,
  releaseTick,
  type SensorFacts,
} from './plan.js'
import { recordOf, type SensorRecord } from './record.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'

const t0 = Date.UTC(2026, 0, 5)
const second = 1000

describe('claiming a poll', () => {
  it('sets the next poll to the end of the lease and records the owner of the poll', () => {
    const { kind, tick, facts } = claimPoll(aSensor(), { now: t0 + 5, id: 'me#1' })
    const untilAt = t0 + 5 + 60 * second + 2 * second + 3 * second
    expect(kind).toBe('poll')
    expect(tick).toMatchObject({ revision: 4, nextAt: untilAt, runs: [] })
    expect(tick.stateChanges).toEqual([
      {
        kind: 'sensor',
        name: 's',
        item: 'poll',
        revision: 0,
        value: { id: 'me#1', sinceAt: t0 + 5, untilAt },
      },
    ])
    expect(facts).toMatchObject({ due: { revision: 5 }, openRevision: 1, record: { lagMs: 5 } })
  })

  it('waits for the poll of another process, and for the end of a pause', () => {
    const open = { id: 'you#1', sinceAt: t0, untilAt: t0 + 9 }
    expect(claimPoll({ ...aSensor(), open }, { now: t0, id: 'me#1' })).toMatchObject({
      kind: 'wait',
      tick: { nextAt: t0 + 9 },
    })
    expect(claimPoll({ ...aSensor(), open }, { now: t0 + 9, id: 'me#1' }).kind).toBe('poll')
    const held = aSensor({ holds: [hold(t0 - 1, t0 + 50)] })
    expect(claimPoll(held, { now: t0, id: 'me#1' })).toMatchObject({
      kind: 'wait',
      tick: { nextAt: t0 + 50 },
    })
    const off = aSensor({ enabled: false })
    expect(claimPoll(off, { now: t0, id: 'me#1' })).toMatchObject({
      kind: 'wait',
      tick: { nextAt: undefined },
    })
  })

  it('resets the count of failures after a pause', () => {
    const record = recordOf({ failures: 7 })
    const held = { ...aSensor({ holds: [hold(t0 - 9, t0 - 1)] }), record }
    expect(claimPoll(held, { now: t0, id: 'me#1' }).facts.record.failures).toBe(0)
    expect(claimPoll({ ...aSensor(), record }, { now: t0, id: 'me#1' }).facts.record.failures).toBe(7)
  })
})

describe('the result of a poll', () => {
  const claimed = claimPoll(aSensor(), { now: t0, id: 'me#1' }).facts

  it('may be written unless another process took over the poll, or the sensor was reset, paused or ended', () => {
    expect(isStillOurs(claimed, claimed, t0)).toBe(true)
    expect(isStillOurs({ ...claimed, open: undefined }, claimed, t0)).toBe(false)
    const reset = { ...claimed, record: { ...claimed.record, generation: 1 } }
    expect(isStillOurs(reset, claimed, t0)).toBe(false)
    const due = (change: Partial<DueTrigger>): SensorFacts => ({
      ...claimed,
      due: { ...claimed.due, ...change },
    })
    expect(isStillOurs(due({ holds: [hold(t0, undefined)] }), claimed, t0)).toBe(false)
    expect(isStillOurs(due({ active: false }), claimed, t0)).toBe(false)
  })

  it.each<[string, Partial<Sensed>, Partial<SensorRecord>, boolean, number]>([
    ['nothing: after the interval', {}, {}, false, 30 * second],
    ['nothing, but it was hinted at: at once', {}, {}, true, 0],
    ['more: at once', { more: true }, {}, false, 0],
    ['more, a hundred times in a row: after a second', { more: true }, { pages: 100 }, false, second],
    ['a failure: after the interval, less a part that its name decides', failedPoll('x'), {}, false, 26_003],
    ['a failure that was hinted at: all the same', failedPoll('x'), {}, true, 26_003],
    ['the fourth failure: eight times that', failedPoll('x'), { failures: 3 }, false, 229_497],
  ])('it is polled again, after %s', (_, sensed, record, isHinted, ms) => {
    const facts = { ...claimed, record: { ...claimed.record, ...record } }
    const ending = { now: t0 + 7, fresh: [], freshInAll: 0, startedAt: t0, isHinted }
    const { nextAt } = endTick(facts, { ...nothing, ...sensed }, ending)
    expect((nextAt ?? 0) - t0 - 7).toBe(ms)
  })

  it('writes runs, keys, state and the end of the claim together', () => {
    const fresh = [{ key: 'k', partition: 'p', payload: { a: 1 } }]
    const sensed: Sensed = { ...nothing, kind: 'trigger', observations: fresh, state: { value: { n: 1 } } }
    const ending = { now: t0 + 7, fresh, freshInAll: 1, startedAt: t0, isHinted: false }
    const tick = endTick(claimed, sensed, ending)
    expect(tick.runs).toMatchObject([
      {
        job: 'load',
        origin: 'sensor',
        trigger: 's',
        dueAt: t0 + 7,
        partition: 'p',
        payload: { a: 1 },
        labels: { key: 'k' },
      },
    ])
    expect(tick.seen).toEqual([{ digest: digestOf(claimed.spec, fresh[0]!), untilAt: undefined }])
    expect(tick.stateChanges).toMatchObject([
      {
        item: '',
        revision: 3,
        value: { isInitialized: true, state: { n: 1 }, found: 1, polls: 1, failures: 0 },
      },
      { item: 'poll', revision: 1, value: undefined },
    ])
  })

  it('can be released, so that the next poll is immediate, unless the sensor is paused', () => {
    expect(releaseTick(claimed, t0 + 9).nextAt).toBe(t0 + 9)
    const paused = { ...claimed, due: { ...claimed.due, nextAt: undefined, holds: [hold(t0, undefined)] } }
    expect(releaseTick(paused, t0 + 9).nextAt).toBeUndefined()
  })
})

it('has a backoff that is the same on every host and grows to a quarter of an hour', () => {
  const spec = aSensor().spec
  const waits = Array.from({ length: 12 }, (_, i) => backOffAfter(spec, 's', i + 1))
  expect(waits).toEqual(Array.from({ length: 12 }, (_, i) => backOffAfter(spec, 's', i + 1)))
  expect(waits.every((wait) => wait <= 900 * second)).toBe(true)
  expect(waits.at(-1)).toBeGreaterThan(720 * second - 1)
  expect(backOffAfter({ ...spec, everyMs: 1 }, 's', 1)).toBeGreaterThan(799)
  expect(backOffAfter({ ...spec, everyMs: 7200 * second }, 's', 9)).toBeGreaterThan(5760 * second - 1)
})

const nothing: Sensed = {
  kind: 'no-trigger',
  observations: [],
  reason: undefined,
  state: { value: 0 },
  more: false,
}

function aSensor(change: { holds?: DueTrigger['holds']; enabled?: boolean } = {}): SensorFacts {
  const { holds = [], enabled = true } = change
  const due: DueTrigger = {
    trigger: defineSensor('s', 'test', { job: 'load', enabled }),
    source: 'code:test',
    version: 1,
    revision: 4,
    definedAt: t0 - 100,
    cursorAt: t0 - 50,
    nextAt: t0,
    chainRun: undefined,
    active: true,
    jobDefinition: defineJob('load', { command: ['true'] }),
    holds,
    unfinished: [],
  }
  const spec = due.trigger.schedule as SensorSpec
  return { due, spec, record: recordOf(undefined), recordRevision: 3, open: undefined, openRevision: 0 }
}

function hold(fromAt: number, untilAt: number | undefined): DueTrigger['holds'][number] {
  return { id: 1, target: 'trigger:s', fromAt, untilAt, actor: 'me', note: '', catchUp: false }
}
