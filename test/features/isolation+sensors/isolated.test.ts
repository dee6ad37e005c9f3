import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Sensor } from '../../../src/features/sensors/sensor.js'
import { rota, type Rota } from '../../../src/app/rota.js'

const module = fileURLToPath(new URL('./blocking-sensor.mjs', import.meta.url))

test.each(['thread', 'process'] as const)('F9: a sensor may have its own %s', async (isolate) => {
  const app = opened()
  app.sensors.define('s', { sensor: { module }, isolate, config: { name: 'n', from: 7 }, job: 'load' })
  const polled = event(app, 'sensor:polled')
  await app.start()
  expect(await polled).toMatchObject({ kind: 'trigger', fresh: 1 })
  expect((await app.runs.list())[0]).toMatchObject({ partition: 'UTC', labels: { key: 'n-7' } })
  expect((await app.sensors.list())[0]?.record.state).toBe(8)
})

test.each(['thread', 'process'] as const)(
  'F4: one with a %s of its own is cleaned up there',
  async (isolate) => {
    const cleaned = join(await mkdtemp(join(tmpdir(), 'rota-sensor-')), 'cleaned')
    vi.stubEnv('ROTA_TEST_CLEANED', cleaned)
    onTestFinished(() => void vi.unstubAllEnvs())
    const app = opened()
    app.sensors.define('s', { sensor: { module }, isolate, config: { name: 'n', from: 7 }, job: 'load' })
    const polled = event(app, 'sensor:polled')
    await app.start()
    await polled
    await app.stop({ grace: 0 })
    expect(await readFile(cleaned, 'utf8')).toBe('8')
  },
)

test('F9: a sensor that blocks its thread is terminated, and the others are polled meanwhile', async () => {
  const app = opened()
  app.sensors.define('bad', { sensor: { module, export: 'blocking' }, timeout: '300ms', job: 'load' })
  let polls = 0
  app.sensors.define('good', {
    every: '10ms',
    job: 'load',
    sensor: {
      init: () => ({ kind: 'ok', state: null }),
      poll: (state) => ((polls += 1), { kind: 'no-trigger', state }),
    },
  })
  const failed = event(app, 'sensor:failed')
  await app.start()
  expect(await failed).toMatchObject({ sensor: 'bad', reason: 'it took longer than 300ms' })
  expect(polls).toBeGreaterThan(3)
})

test('F9: a result that is too large is an error that names the limit', async () => {
  const app = opened()
  app.sensors.define('s', { sensor: { module, export: 'large' }, job: 'load' })
  const failed = event(app, 'sensor:failed')
  await app.start()
  expect((await failed) as { reason: string }).toMatchObject({
    reason: expect.stringContaining('65536 bytes'),
  })
})

test('F9: only a module can be isolated', () => {
  const sensor: Sensor<undefined, null> = {
    init: () => ({ kind: 'ok', state: null }),
    poll: (state) => ({ kind: 'no-trigger', state }),
  }
  expect(() => opened().sensors.define('s', { sensor, isolate: 'thread', job: 'load' })).toThrow(
    /only a module can be isolated/,
  )
})

function opened(): Rota {
  const app = rota({ store: 'memory:' })
  app.job('load', () => undefined)
  onTestFinished(() => app.stop({ grace: 0 }))
  return app
}

function event(app: Rota, name: 'sensor:polled' | 'sensor:failed'): Promise<unknown> {
  return new Promise((resolve) => app.on(name, resolve))
}
