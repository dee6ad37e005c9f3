import { describe, expect, test } from 'vitest'
import { minute, second, settle, Stage, t0 } from '../../../test/fixtures/engine-stage.js'
import { found, n, Probe, recordIn } from './test/probe.js'
import { sensorCast } from './test/sensor-cast.js'

const jobs = { work: () => undefined }

describe('supervision', () => {
  test('F9: sensors that throw, hang or leak are backed off and reported, and the good one is polled at its interval', async () => {
    const stage = new Stage()
    const good = new Probe()
    const throwing = new Probe(() => {
      throw new Error('connection refused')
    })
    const hanging = new Probe(() => new Promise(() => undefined))
    const leaking = new Probe((state) => {
      void new Promise(() => undefined)
      return { kind: 'no-trigger', state }
    })
    const process = await stage.process({
      jobs,
      parts: [
        sensorCast({
          good: { sensor: good },
          throwing: { sensor: throwing },
          hanging: { sensor: hanging, timeout: '10s' },
          leaking: { sensor: leaking },
        }),
      ],
    })
    await stage.pass(5 * minute)
    expect(good.instants).toEqual(Array.from({ length: 11 }, (_, i) => i * 30 * second))
    expect(leaking.polls).toHaveLength(11)
    expect(throwing.polls.length).toBeLessThan(6)
    const failed = process.of('sensor:failed')
    expect(failed.find(({ sensor }) => sensor === 'throwing')).toMatchObject({
      reason: 'connection refused',
      failures: 1,
    })
    expect(failed.find(({ sensor }) => sensor === 'hanging')).toMatchObject({
      reason: 'it took longer than 10s',
    })
    expect(process.of('sensor:stuck')).toMatchObject([
      { sensor: 'hanging' },
      { sensor: 'hanging' },
      { sensor: 'hanging' },
    ])
  })

  test('F9: the backoff doubles to a quarter of an hour, is the same on every host, and ends with the first success', async () => {
    const stage = new Stage()
    const probe = new Probe(() => ({ kind: 'error', reason: 'down', state: { n: 5 } }))
    const process = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(180 * minute)
    const waits = process.of('sensor:failed').map(({ retryInMs }) => retryInMs)
    for (const [index, wait] of waits.entries()) {
      const full = Math.min(900, 30 * 2 ** index) * second
      expect(wait).toBeGreaterThan(0.8 * full - 1)
      expect(wait).toBeLessThanOrEqual(full)
    }
    expect(waits.length).toBeLessThan(25)
    expect(
      process
        .of('sensor:failed')
        .map(({ broken }) => broken)
        .slice(0, 6),
    ).toEqual([false, false, false, false, true, true])
    probe.answer = (state) => ({ kind: 'no-trigger', state })
    await stage.pass(20 * minute)
    expect(process.of('sensor:recovered')).toHaveLength(1)
    expect(await recordIn(stage, 's')).toMatchObject({ failures: 0, state: { n: 5 } })
  })

  test.each([
    ['nothing', undefined, /the poll returned nothing/],
    ['a kind nobody knows', { kind: 'maybe', state: 1 }, /the kind "maybe"/],
    ['no state', { kind: 'no-trigger' }, /the state cannot be kept: there is none/],
    [
      'a state that is no JSON',
      { kind: 'no-trigger', state: { f: () => 1 } },
      /cannot be represented in JSON/,
    ],
    ['a state that is too large', { kind: 'no-trigger', state: 'x'.repeat(300_000) }, /too many/],
    ['no observations', { kind: 'trigger', observations: [], state: 1 }, /without an observation/],
    [
      'an observation without a key',
      { kind: 'trigger', observations: [{ partition: 'p' }], state: 1 },
      /observation 0: its key is nothing/,
    ],
    [
      'a key that is too long',
      { kind: 'trigger', observations: [{ key: 'k'.repeat(1025), partition: 'p' }], state: 1 },
      /more than 1024 bytes/,
    ],
    [
      'a key that no text can be',
      { kind: 'trigger', observations: [{ key: '\ud800', partition: 'p' }], state: 1 },
      /not well-formed/,
    ],
    [
      'an observation without a partition',
      { kind: 'trigger', observations: [{ key: 'k' }], state: 1 },
      /its partition is nothing/,
    ],
    [
      'a payload that is no JSON',
      { kind: 'trigger', observations: [{ key: 'k', partition: 'p', payload: 1n }], state: 1 },
      /cannot be represented in JSON/,
    ],
  ])(
    'F9: a poll that returns %s is an error, and neither runs nor state come of it',
    async (_, answer, reason) => {
      const stage = new Stage()
      const process = await stage.process({
        jobs,
        parts: [sensorCast({ s: { sensor: new Probe(() => answer) } })],
      })
      expect(process.of('sensor:failed')[0]?.reason).toMatch(reason)
      expect((await recordIn(stage, 's')).state).toEqual({ n: 0 })
      expect(await stage.runs()).toEqual([])
    },
  )

  test('F9: the state that an error returns is kept', async () => {
    const stage = new Stage()
    const probe = new Probe((state) => ({ kind: 'error', reason: 'half way', state: { n: n(state) + 1 } }))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(31 * second)
    expect(probe.polls.map(({ state }) => state)).toEqual([{ n: 0 }, { n: 1 }])
  })

  test('F9: a poll that returns long after its timeout is ignored, and there is no second poll until then', async () => {
    const stage = new Stage()
    const ends: ((result: unknown) => void)[] = []
    const probe = new Probe(() => new Promise((resolve) => ends.push(resolve)))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe, timeout: '10s', every: '5s' } })] })
    await stage.pass(60 * second)
    expect(probe.polls).toHaveLength(1)
    ends[0]?.(found(['late']))
    await stage.pass(second)
    expect(await stage.runs()).toEqual([])
    expect(probe.polls).toHaveLength(2)
    await stage.pass(3 * minute)
    expect(probe.polls.length).toBeGreaterThan(2)
  })

  test('F9: a result that a slow sensor returns right after the abort still counts', async () => {
    const stage = new Stage()
    const probe = new Probe((_, { signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(found(['part']))))
    })
    const process = await stage.process({
      jobs,
      parts: [sensorCast({ s: { sensor: probe, timeout: '10s' } })],
    })
    await stage.pass(11 * second)
    expect(await stage.runs()).toHaveLength(1)
    expect(process.of('sensor:failed')).toEqual([])
  })

  test('F9: after `pauseAfter` failures it is paused with the reason, and continues when a person resumes it', async () => {
    const stage = new Stage()
    const probe = new Probe(() => {
      throw new Error('denied')
    })
    const process = await stage.process({
      jobs,
      parts: [sensorCast({ s: { sensor: probe, pauseAfter: 3 } })],
    })
    await stage.pass(60 * minute)
    expect(probe.polls).toHaveLength(3)
    expect(process.of('sensor:paused')).toEqual([{ sensor: 's', failures: 3, reason: 'denied' }])
    expect(await stage.store.holds({ target: 'trigger:s' })).toMatchObject([
      { actor: 'rota', note: '3 polls in a row failed, the last one: denied' },
    ])
    await stage.store.release({ target: 'trigger:s', now: stage.clock.now(), catchUp: false })
    process.engine.wake()
    await settle()
    expect(probe.polls).toHaveLength(4)
    expect((await recordIn(stage, 's')).failures).toBe(1)
  })

  test('F9: evaluations are stored with their reasons, equal consecutive ones as one', async () => {
    const stage = new Stage()
    const probe = new Probe((state) => ({ kind: 'no-trigger', reason: 'too early', state }))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(5 * minute)
    probe.answer = () => found(['a'])
    await stage.pass(30 * second)
    probe.answer = (state) => ({ kind: 'no-trigger', state })
    await stage.pass(minute)
    const ring = await stage.store.stateEntries({ kind: 'evaluation', names: ['s'], limit: 10 })
    expect(ring.map(({ value }) => value)).toMatchObject([
      { number: 1, kind: 'no-trigger', reason: 'too early', count: 11, fromAt: t0, untilAt: t0 + 5 * minute },
      { number: 2, kind: 'trigger', observations: 1, fresh: 1, count: 1 },
    ])
    expect((await recordIn(stage, 's')).last).toMatchObject({ number: 3, kind: 'no-trigger', count: 2 })
  })
})
