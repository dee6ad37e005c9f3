import { afterEach, describe, expect, test } from 'vitest'
import type { Json } from '../../kernel/definition/json.js'
import type { Observation, Sensor } from './sensor.js'
import { FakeClock, settled } from '../../testing/fake-clock.js'
import { rota, type Rota } from '../../app/rota.js'
import { resetSensor } from './status.js'

const t0 = Date.UTC(2026, 0, 5)
let opened: Rota | undefined

afterEach(async () => {
  await opened?.close()
  opened = undefined
})

describe('what a sensor triggers', () => {
  test('F10: a function of the partition is a durable run with retries', async () => {
    const { app, pass } = open()
    const seen: unknown[] = []
    app.sensors.define('new_data_files', {
      sensor: listing(['2025-01-15', '2025-01-16']),
      onTrigger: (partition, run) => {
        seen.push([partition, run.attempt, run.trigger])
        if (run.attempt === 1) throw new Error('not yet')
      },
    })
    await app.start()
    await pass(10_000)
    expect(seen.toSorted(byText)).toEqual([
      ['2025-01-15', 1, 'new_data_files'],
      ['2025-01-15', 2, 'new_data_files'],
      ['2025-01-16', 1, 'new_data_files'],
      ['2025-01-16', 2, 'new_data_files'],
    ])
    expect(await app.runs.list()).toMatchObject([
      { job: 'new_data_files', state: 'done', failures: 1 },
      { job: 'new_data_files', state: 'done', failures: 1 },
    ])
  })

  test('F10: a job, by name or as the return value of app.job', async () => {
    const { app, pass } = open()
    const partitions: unknown[] = []
    const load = app.job('load', ({ partition }) => partitions.push(partition))
    app.sensors.define('by_name', { sensor: listing(['a']), job: 'load' })
    app.sensors.define('by_reference', { sensor: listing(['b']), job: load })
    await app.start()
    await pass(1000)
    expect(partitions.toSorted(byText)).toEqual(['a', 'b'])
  })

  test('F9: a duplicate name and an unknown job are refused', async () => {
    const { app } = open()
    const sensor = listing(['a'])
    app.sensors.define('s', { sensor, job: 'nobody' })
    expect(() => app.sensors.define('s', { sensor, job: 'x' })).toThrow(/trigger s is defined twice/)
    expect(() => app.sensors.define('t', { sensor })).toThrow(/exactly one of job and onTrigger/)
    expect(() => app.sensors.define('t', { sensor, job: 'x', every: 'soon' })).toThrow(
      /sensor "t" is not valid: every/,
    )
    await expect(app.start()).rejects.toThrow(/sensors\.s\.job: no job is named nobody/)
  })
})

describe('inspecting sensors', () => {
  test('F9: a list shows the condition of each sensor', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    app.sensors.define('good', { sensor: listing(['a']), job: 'load' })
    app.sensors.define('bad', { sensor: failing('access denied'), job: 'load', pauseAfter: 2 })
    app.sensors.define('off', { sensor: listing(['a']), job: 'load', enabled: false })
    await app.start()
    await pass(60_000)
    const sensors = await app.sensors.list()
    expect(sensors.map(({ name, condition }) => [name, condition])).toEqual([
      ['bad', 'paused'],
      ['good', 'ok'],
      ['off', 'off'],
    ])
    expect(sensors[0]?.pause).toMatchObject({ actor: 'rota', note: expect.stringContaining('access denied') })
    expect(sensors[1]).toMatchObject({
      type: 'custom',
      nextAt: new Date(t0 + 90_000),
      record: { polls: 3, found: 1 },
    })
    expect(await app.sensors.history('good')).toMatchObject([
      {
        number: 2,
        kind: 'no-trigger',
        reason: 'everything found was seen before',
        count: 2,
        observations: 2,
        fresh: 0,
      },
      { number: 1, kind: 'trigger', observations: 1, fresh: 1 },
    ])
    const metrics = (await app.sensors.metrics()).split('\n')
    expect(metrics).toEqual(
      expect.arrayContaining([
        '# TYPE rota_sensor_failures gauge',
        'rota_sensor_failures{sensor="bad"} 2',
        'rota_sensor_found_total{sensor="good"} 1',
        'rota_sensor_paused{sensor="bad"} 1',
        `rota_sensor_last_success_timestamp_seconds{sensor="good"} ${t0 / 1000 + 60}`,
      ]),
    )
    await expect(app.sensors.history('nobody')).rejects.toThrow(/no sensor is named nobody/)
  })

  test('F4: a preview polls from a given state and changes nothing', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: counting(), job: 'load', every: '1h' })
    await app.start()
    await pass(1000)
    const before = await everything(app)
    expect(await app.sensors.preview('s')).toMatchObject({
      kind: 'trigger',
      observations: [{ key: '1', isNew: true }],
      before: 1,
      after: 2,
    })
    expect(await app.sensors.preview('s', { state: 0 })).toMatchObject({
      observations: [{ key: '0', isNew: false }],
      before: 0,
      after: 1,
    })
    expect(await everything(app)).toEqual(before)
  })

  test('F5: a reset starts again, and forgets the seen keys only on request', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: counting(), job: 'load', every: '1h' })
    await app.start()
    await pass(1000)
    expect(await app.sensors.reset('s', { keys: false })).toEqual({ forgotten: 0 })
    await pass(1000)
    expect(await keysOf(app)).toEqual(['0'])
    expect(await app.sensors.reset('s', { keys: false, state: 7 })).toEqual({ forgotten: 0 })
    await pass(1000)
    expect(await keysOf(app)).toEqual(['0', '7'])
    expect(await app.sensors.reset('s', { keys: true })).toEqual({ forgotten: 2 })
    await pass(1000)
    expect(await keysOf(app)).toEqual(['0', '0', '7'])
  })

  test('F5: a reset during a poll discards its result', async () => {
    const { app, pass } = open()
    const ends: (() => void)[] = []
    const slow: Sensor<undefined, number> = {
      init: () => ({ kind: 'ok', state: 0 }),
      poll: (state) =>
        new Promise((resolve) => {
          ends.push(() => resolve({ kind: 'trigger', observations: [one(String(state))], state: state + 1 }))
        }),
    }
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: slow, job: 'load' })
    await app.start()
    await pass(1000)
    await app.sensors.reset('s', { keys: false, state: 40 })
    ends[0]?.()
    await pass(1000)
    ends[1]?.()
    await pass(1000)
    expect(await keysOf(app)).toEqual(['40'])
  })

  test('F5: a reset while a large poll is being written stops the rest', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    const many = Array.from({ length: 20_000 }, (_, index) => one(String(index)))
    let polls = 0
    app.sensors.define('s', {
      job: 'load',
      sensor: {
        init: () => ({ kind: 'ok', state: 0 }),
        poll: (state: number) =>
          polls++ === 0
            ? { kind: 'trigger', observations: [one('first'), ...many], state: 1 }
            : { kind: 'no-trigger', state },
      },
    })
    const store = await app.store()
    const recorded = async (): Promise<number> => (await store.counts()).pending
    const resetNow = () => resetSensor(store, { name: 's', keys: false, now: app.now().getTime() })
    let reset: Promise<number> | undefined
    app.on('tick', () => {
      reset ??= resetNow().then(recorded)
    })
    await app.start({ roles: { worker: false } })
    await pass(1000)
    const atReset = await reset
    await pass(1000)
    expect(await recorded()).toBe(atReset)
    expect(atReset).toBeLessThan(20_000)
    expect(polls).toBe(2)
  })

  test('F4: a removed sensor is cleaned up and forgotten, its runs stay', async () => {
    const { app, pass } = open()
    const cleaned: Json[] = []
    app.job('load', () => undefined)
    app.sensors.define('s', {
      sensor: { ...counting(), cleanup: (state) => void cleaned.push(state) },
      job: 'load',
    })
    await app.start()
    await pass(1000)
    await app.sensors.remove('s')
    await pass(120_000)
    expect(cleaned).toEqual([1])
    expect(await keysOf(app)).toEqual(['0'])
    expect((await app.sensors.list()).map(({ condition }) => condition)).toEqual(['ended'])
    const store = await app.store()
    expect(await store.stateEntries({ kind: 'sensor', limit: 9 })).toEqual([])
    await app.stop({ grace: 0 })
    expect(cleaned).toEqual([1])
  })

  test('F4: a sensor whose cleanup fails is still removed, and the failure is reported', async () => {
    const { app, pass } = open()
    const troubles: unknown[] = []
    app.on('trouble', ({ where, error }) => troubles.push([where, (error as Error).message]))
    app.job('load', () => undefined)
    const cleanup = (): never => {
      throw new Error('the door is stuck')
    }
    app.sensors.define('s', { sensor: { ...counting(), cleanup }, job: 'load' })
    await app.start()
    await pass(1000)
    await app.sensors.remove('s')
    expect(troubles).toEqual([['sensor s', 'its cleanup failed: the door is stuck']])
    const store = await app.store()
    expect(await store.stateEntries({ kind: 'sensor', limit: 9 })).toEqual([])
    expect(await store.forgetSeen({ trigger: 's', limit: 9 })).toBe(0)
  })

  test('F4: a sensor whose cleanup never ends is removed after five seconds', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    const cleanup = (): Promise<never> => new Promise(() => undefined)
    app.sensors.define('s', { sensor: { ...counting(), cleanup }, job: 'load' })
    await app.start()
    await pass(1000)
    const removed = app.sensors.remove('s')
    await pass(5000)
    await removed
    expect((await app.sensors.list()).map(({ condition }) => condition)).toEqual(['ended'])
  })

  test('F4: after a preview, cleanup gets the state that the preview returned', async () => {
    const { app } = open()
    const cleaned: Json[] = []
    app.job('load', () => undefined)
    app.sensors.define('s', {
      sensor: { ...counting(), cleanup: (state) => void cleaned.push(state) },
      job: 'load',
    })
    await app.sensors.preview('s')
    await app.sensors.preview('s', { state: 7 })
    expect(cleaned).toEqual([1, 8])
  })
})

describe('a delivery', () => {
  test('F11: becomes a run when it is accepted, and none if it is a duplicate', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: silent(), job: 'load' })
    await app.start()
    expect(await app.sensors.deliver('s', one('a'))).toBe('accepted')
    expect(await app.sensors.deliver('s', one('a'))).toBe('duplicate')
    await pass(1000)
    expect(await keysOf(app)).toEqual(['a'])
    await expect(app.sensors.deliver('nobody', one('a'))).rejects.toThrow(/no sensor is named nobody/)
    await expect(app.sensors.deliver('s', { key: '', partition: 'p' })).rejects.toThrow(/its key is ""/)
  })

  test('F11: hundreds at the same time are each accepted once, while polls continue', async () => {
    const { app, pass } = open()
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: counting(), job: 'load', every: '1ms' })
    await app.start()
    const keys = Array.from({ length: 600 }, (_, i) => `d-${i % 300}`)
    const answers = Promise.all(keys.map((key) => app.sensors.deliver('s', one(key))))
    await pass(50)
    expect((await answers).filter((answer) => answer === 'accepted')).toHaveLength(300)
    const delivered = (await keysOf(app)).filter((key) => key.startsWith('d-'))
    expect(new Set(delivered).size).toBe(300)
    expect(delivered).toHaveLength(300)
    expect((await app.sensors.history('s')).some(({ kind }) => kind === 'delivered')).toBe(true)
  })

  test('F11: to a paused, disabled or frozen sensor is not accepted, so that its sender tries again', async () => {
    const { app } = open()
    app.job('load', () => undefined)
    app.sensors.define('s', { sensor: silent(), job: 'load' })
    app.sensors.define('off', { sensor: silent(), job: 'load', enabled: false })
    await app.start()
    await app.triggers.pause('s')
    expect(await app.sensors.deliver('s', one('a'))).toBe('paused')
    expect(await app.sensors.deliver('off', one('a'))).toBe('paused')
    await app.triggers.resume('s')
    await app.freeze()
    expect(await app.sensors.deliver('s', one('a'))).toBe('paused')
    await app.thaw()
    expect(await app.sensors.deliver('s', one('a'))).toBe('accepted')
  })
})

function open(): { app: Rota; pass: (ms: number) => Promise<void> } {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock })
  opened = app
  return { app, pass: (ms) => clock.advance(ms, () => settled(10)) }
}

function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1
}

function one(key: string): Observation {
  return { key, partition: '2026-01-05' }
}

/** Finds the same partitions at every poll. */
function listing(partitions: readonly string[]): Sensor<undefined, null> {
  const [first, ...rest] = partitions.map((partition) => ({ key: `data/${partition}`, partition }))
  return {
    init: () => ({ kind: 'ok', state: null }),
    poll: () => ({ kind: 'trigger', observations: [first as Observation, ...rest], state: null }),
  }
}

/** Finds a number at every poll, each one higher than the one before. */
function counting(): Sensor<undefined, number> {
  return {
    init: () => ({ kind: 'ok', state: 0 }),
    poll: (state) => ({ kind: 'trigger', observations: [one(String(state))], state: state + 1 }),
  }
}

function silent(): Sensor<undefined, null> {
  return {
    init: () => ({ kind: 'ok', state: null }),
    poll: () => ({ kind: 'no-trigger', reason: 'nothing new', state: null }),
  }
}

function failing(reason: string): Sensor<undefined, null> {
  return {
    init: () => ({ kind: 'ok', state: null }),
    poll: () => ({ kind: 'error', reason, state: null }),
  }
}

async function keysOf(app: Rota): Promise<string[]> {
  return (await app.runs.list({ limit: 10_000 })).map(({ labels }) => labels?.['key'] ?? '').toSorted()
}

async function everything(app: Rota): Promise<unknown> {
  const store = await app.store()
  return [
    await store.stateEntries({ kind: 'sensor', limit: 99 }),
    await store.stateEntries({ kind: 'evaluation', limit: 99 }),
    await store.triggers(),
    await store.runs({ limit: 99 }),
  ]
}
