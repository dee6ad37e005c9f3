import { describe, expect, test } from 'vitest'
import {
  changed,
  minute,
  second,
  settle,
  Stage,
  t0,
  type Process,
} from '../../../../test/fixtures/engine-stage.js'
import { found, n, Probe, recordIn } from '../test/probe.js'
import { newNotices, watchKey } from '../../../kernel/alert/notice.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { Observation } from '../sensor.js'
import { sensorCast, type SensorCast } from '../test/sensor-cast.js'

const jobs = { work: () => undefined }

describe('a poll', () => {
  test('F9: the first poll is immediate, the next one an interval after the end of the previous one', async () => {
    const stage = new Stage()
    const probe = new Probe(async (state) => {
      await stage.clock.sleep(5 * second)
      return { kind: 'no-trigger', state }
    })
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(2 * minute)
    expect(probe.instants).toEqual([0, 35 * second, 70 * second, 105 * second])
    expect(probe.inits).toBe(1)
  })

  test('F3, F10: an observation becomes a durable run with its partition and payload, performed like any other', async () => {
    const stage = new Stage()
    const done: unknown[] = []
    const probe = new Probe(() => found(['a.csv', 'b.csv']))
    const process = await stage.process({
      jobs: { load: ({ partition, payload, trigger }) => done.push([trigger, partition, payload]) },
      parts: [sensorCast({ files: { sensor: probe } })],
    })
    await stage.pass(second)
    expect(done.toSorted(byText)).toEqual([
      ['files', '2026-01-05', { path: 'a.csv' }],
      ['files', '2026-01-05', { path: 'b.csv' }],
    ])
    const runs = await stage.runs('files')
    expect(runs).toMatchObject([
      { origin: 'sensor', state: 'done', dueAt: t0 },
      { origin: 'sensor', state: 'done', dueAt: t0 },
    ])
    expect(runs.map(({ labels }) => labels?.['key']).toSorted(byText)).toEqual(['a.csv', 'b.csv'])
    expect(process.of('sensor:polled')[0]).toMatchObject({ kind: 'trigger', observations: 2, fresh: 2 })
  })

  test('a late poll writes one notice, if a rule reports it', async () => {
    const stage = new Stage()
    const watch = { ...watchKey, value: { 'code:test': ['sensor-behind'] } }
    await stage.store.changeState({ changes: [watch], now: t0 })
    const cast = () => sensorCast({ s: { sensor: new Probe((state) => found([], state)) } })
    const first = await stage.process({ jobs, parts: [cast()] })
    await stage.pass(45 * second)
    first.kill()
    await stage.pass(10 * minute)
    await stage.process({ jobs, parts: [cast()] })
    await stage.pass(2 * minute)
    const notices = await stage.store.stateEntries({ kind: 'alert', names: [newNotices], limit: 9 })
    expect(notices.map(({ value }) => value)).toMatchObject([
      {
        on: 'sensor-behind',
        trigger: 's',
        text: expect.stringMatching(/^its poll began 9m\d+s late$/) as string,
      },
    ])
  })

  test('F5: a repeated observation creates no second run, and the state continues', async () => {
    const stage = new Stage()
    const probe = new Probe((state) => found(['a', 'a', 'b'], { n: n(state) + 1 }))
    const first = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(minute)
    first.kill()
    const again = new Probe((state) => found(['a', 'c'], state))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: again } })] })
    await stage.pass(2 * minute)
    expect(again.inits).toBe(0)
    expect(again.polls[0]?.state).toEqual({ n: 3 })
    expect((await stage.runs('s')).map(({ labels }) => labels?.['key']).toSorted(byText)).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  test('F5: observations are equal by key, or by key and partition, for the time of `dedupe.for`', async () => {
    const stage = new Stage()
    const probe = (): Probe =>
      new Probe((state, { now }) => ({
        kind: 'trigger',
        observations: [{ key: 'k', partition: String(Math.floor((now.getTime() - t0) / minute)) }],
        state,
      }))
    await stage.process({
      jobs,
      parts: [
        sensorCast({
          key: { sensor: probe() },
          both: { sensor: probe(), dedupe: { by: 'key-and-partition' } },
          short: { sensor: probe(), dedupe: { for: '70s' } },
        }),
      ],
    })
    await stage.pass(3 * minute)
    expect(await stage.runs('key')).toHaveLength(1)
    expect((await stage.runs('both')).map(({ partition }) => partition)).toEqual(['0', '1', '2', '3'])
    expect((await stage.runs('short')).map(({ dueAt }) => dueAt - t0)).toEqual([0, 90 * second, 180 * second])
  })

  test('F5: keys are compared exactly, including case and Unicode form, and a key that occurs twice in a poll counts once', async () => {
    const stage = new Stage()
    const keys = ['é', 'e\u0301', 'É', 'é'] as const
    const [first, ...others] = keys.map((key) => ({ key, partition: 'p' }))
    const probe = new Probe((state) => ({
      kind: 'trigger',
      observations: [first as Observation, ...others],
      state,
    }))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(minute)
    const found = (await stage.runs('s')).map(({ labels }) => labels?.['key'])
    expect(found).toHaveLength(3)
    expect(new Set(found)).toEqual(new Set(keys))
  })

  test('F4: with `more` it is polled again immediately, and waits a moment after a hundred times', async () => {
    const stage = new Stage()
    const probe = new Probe((state) => ({ kind: 'no-trigger', state, more: true }))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.pass(0)
    for (let i = 0; i < 150; i++) await settle()
    expect(probe.polls.length).toBe(101)
    expect(new Set(probe.instants)).toEqual(new Set([0]))
    await stage.pass(second)
    expect(probe.polls.length).toBeGreaterThan(101)
  })

  test('F4: ten thousand observations of one poll are ten thousand runs, each once', async () => {
    const stage = new Stage()
    const keys = Array.from({ length: 10_000 }, (_, i) => `key-${i}`)
    const batches: number[] = []
    const store = changed(stage.store, {
      tick: (ticks) => {
        batches.push(...ticks.map((tick) => tick.runs.length).filter((count) => count > 0))
        return stage.store.tick(ticks)
      },
    })
    const roles = { worker: false }
    await stage.process({
      jobs,
      store,
      roles,
      parts: [sensorCast({ s: { sensor: new Probe(() => found(keys)) } })],
    })
    for (let i = 0; i < 20; i++) await settle()
    const runs = await stage.runs('s')
    expect(new Set(runs.map(({ labels }) => labels?.['key']))).toEqual(new Set(keys))
    expect(runs).toHaveLength(keys.length)
    expect(batches).toEqual(Array.from({ length: 10 }, () => 1000))
    expect((await recordIn(stage, 's')).last).toMatchObject({ observations: 10_000, fresh: 10_000 })
  })

  test('F4: runs are performed one after another with overlap queue-all', async () => {
    const stage = new Stage()
    let atOnce = 0
    let most = 0
    const work = async (): Promise<void> => {
      most = Math.max(most, ++atOnce)
      await stage.clock.sleep(second)
      atOnce -= 1
    }
    const cast = { sensor: new Probe(() => found(['a', 'b', 'c'])), overlap: 'queue-all' } as const
    await stage.process({ jobs: { work }, parts: [sensorCast({ s: cast })] })
    await stage.pass(10 * second)
    expect(most).toBe(1)
    expect((await stage.runs('s')).every(({ state }) => state === 'done')).toBe(true)
  })
})

describe('init and cleanup', () => {
  test('F4: a failed init is reported with its reason and tried again, and nothing is polled before', async () => {
    const stage = new Stage()
    const probe = new Probe()
    let refusals = 2
    probe.init = () => {
      if (refusals-- > 0) return { kind: 'error', reason: 'no such bucket' } as never
      return { kind: 'ok', state: 7 }
    }
    const process = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    expect(process.of('sensor:failed')).toMatchObject([
      { sensor: 's', reason: 'init refused: no such bucket' },
    ])
    await stage.pass(3 * minute)
    expect(probe.polls[0]?.state).toBe(7)
    expect(process.of('sensor:recovered')).toEqual([{ sensor: 's', failures: 2 }])
  })

  test('F4: at a clean stop each sensor is cleaned up with its state, and a failing cleanup does not block the stop', async () => {
    const stage = new Stage()
    const [good, bad, slow] = [new Probe(), new Probe(), new Probe()]
    bad.cleanup = () => {
      throw new Error('broken')
    }
    Object.assign(slow, { cleanup: () => new Promise<void>(() => undefined) })
    const sensors = { good: { sensor: good }, bad: { sensor: bad }, slow: { sensor: slow } }
    const process = await stage.process({ jobs, parts: [sensorCast(sensors)] })
    const stopped = process.engine.stop({ graceMs: 0 })
    await stage.pass(6 * second)
    await stopped
    expect(good.cleaned).toEqual([{ n: 0 }])
    expect(process.of('trouble')).toMatchObject([{ where: 'sensor bad' }])
  })

  test('F5: a poll in progress at a clean stop is aborted and released, so that others can poll immediately', async () => {
    const stage = new Stage()
    const probe = new Probe(() => new Promise(() => undefined))
    const process = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    const stopped = process.engine.stop({ graceMs: 0 })
    await stage.pass(3 * second)
    await stopped
    expect(probe.polls[0]?.signal.aborted).toBe(true)
    const other = new Probe()
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: other } })] })
    expect(other.polls).toHaveLength(1)
    expect((await recordIn(stage, 's')).failures).toBe(0)
  })
})

describe('several processes', () => {
  test('F9: one sensor in two processes is polled by one of them at a time', async () => {
    const stage = new Stage()
    let atOnce = 0
    let most = 0
    const slow = async (state: Json): Promise<unknown> => {
      most = Math.max(most, ++atOnce)
      await stage.clock.sleep(20 * second)
      atOnce -= 1
      return { kind: 'no-trigger', state }
    }
    const probes = [new Probe(slow), new Probe(slow)]
    for (const sensor of probes)
      await stage.process({ jobs, parts: [sensorCast({ s: { sensor, every: '1s' } })] })
    await stage.pass(10 * minute)
    expect(most).toBe(1)
    expect(probes[0]!.polls.length + probes[1]!.polls.length).toBeGreaterThan(25)
  })

  test('F5: the poll of a dead process is repeated from the stored state, after its lease', async () => {
    const stage = new Stage()
    const dying = new Probe(() => new Promise(() => undefined))
    const first = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: dying, timeout: '10s' } })] })
    first.kill()
    const probe = new Probe((state) => found(['a'], state))
    await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe, timeout: '10s' } })] })
    await stage.pass(14 * second)
    expect(probe.polls).toHaveLength(0)
    await stage.pass(2 * second)
    expect(probe.instants).toEqual([15 * second])
    expect(await stage.runs('s')).toHaveLength(1)
  })

  test('F5: a pause during a poll discards its result; after the pause it is found again', async () => {
    const stage = new Stage()
    const ends: (() => void)[] = []
    const probe = new Probe(() => new Promise((resolve) => ends.push(() => resolve(found(['a'])))))
    const process = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe } })] })
    await stage.store.hold({ target: 'trigger:s', now: stage.clock.now(), actor: 'me', note: '' })
    ends[0]?.()
    await stage.pass(10 * minute)
    expect(await stage.runs()).toEqual([])
    expect(probe.polls).toHaveLength(1)
    await stage.store.release({ target: 'trigger:s', now: stage.clock.now(), catchUp: false })
    await wakeAndEnd(stage, process, () => ends[1]?.())
    expect(await stage.runs('s')).toHaveLength(1)
  })
})

test('F9: a disabled sensor is not polled, also when a pause of it ends', async () => {
  const stage = new Stage()
  const probe = new Probe()
  const process = await stage.process({ jobs, parts: [sensorCast({ s: { sensor: probe, enabled: false } })] })
  await stage.store.hold({ target: 'trigger:s', now: stage.clock.now(), actor: 'me', note: '' })
  await stage.store.release({ target: 'trigger:s', now: stage.clock.now() + 1, catchUp: false })
  process.engine.wake()
  await stage.pass(minute)
  expect(probe.polls).toEqual([])
})

describe('hints', () => {
  test('F11: a hint leads to an immediate poll, many hints to at most ten polls a second', async () => {
    const stage = new Stage()
    let hint: () => void = () => undefined
    const probe = new Probe()
    const cast: SensorCast = { sensor: probe, every: '1h', watch: (call) => ((hint = call), () => undefined) }
    await stage.process({ jobs, parts: [sensorCast({ s: cast })] })
    await stage.pass(10 * second)
    hint()
    await settle()
    expect(probe.instants).toEqual([0, 10 * second])
    for (let i = 0; i < 100; i++) {
      hint()
      await stage.pass(10)
    }
    expect(probe.polls.length).toBeLessThanOrEqual(13)
    expect(probe.polls.length).toBeGreaterThan(9)
  })

  test('F11: a hint during a poll leads to one more poll, and no hint shortens a backoff or a pause', async () => {
    const stage = new Stage()
    let hint: () => void = () => undefined
    const probe = new Probe(async (state) => {
      await stage.clock.sleep(second)
      return { kind: 'no-trigger', state }
    })
    const cast: SensorCast = { sensor: probe, every: '1h', watch: (call) => ((hint = call), () => undefined) }
    await stage.process({ jobs, parts: [sensorCast({ s: cast })] })
    await stage.pass(500)
    hint()
    await stage.pass(10 * second)
    expect(probe.instants).toEqual([0, second])
    probe.answer = () => ({ kind: 'error', reason: 'down', state: 1 })
    hint()
    await stage.pass(second)
    expect(probe.polls).toHaveLength(3)
    hint()
    await stage.pass(10 * second)
    expect(probe.polls).toHaveLength(3)
  })
})

async function wakeAndEnd(stage: Stage, process: Process, end: () => void): Promise<void> {
  process.engine.wake()
  await settle()
  end()
  await stage.pass(second)
}

function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1
}
