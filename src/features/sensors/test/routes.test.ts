import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { sensorRoutes } from '../routes.js'
import { filesSensor, webhookSensor } from '../kinds/index.js'

/** A served app with a sensor that has found one file. */
async function stage() {
  const parts = testApp()
  const { app, directory } = parts
  mkdirSync(join(directory, 'in'))
  writeFileSync(join(directory, 'in', 'one.csv'), 'x')
  app.job('load', () => 'ok')
  const sensor = filesSensor({ glob: '*.csv', directory: join(directory, 'in'), settle: '1ms', watch: false })
  app.sensors.define('inbox', { sensor, every: '1h', job: 'load' })
  const found = new Promise<void>((resolve) => void app.on('run:ended', () => resolve()))
  await app.start()
  await found
  return { app, directory, ...(await serveApp(parts)) }
}

it('the routes of sensors answer their examples', async () => {
  const { ask } = await stage()
  await checkExamples(ask, sensorRoutes)
})

it('every change of sensors is audited, and none by a dry run', async () => {
  const { app, ask } = await stage()
  await checkChanges({ app, ask }, sensorRoutes, {
    'POST /sensors/{name}/reset': {
      path: '/sensors/inbox/reset',
      body: { forgetKeys: false },
      action: 'sensor.reset',
    },
  })
  await app.sensors.remove('inbox', { by: 'ann', reason: 'gone' })
  expect(await app.history({ limit: 1 })).toMatchObject([
    { action: 'sensor.remove', actor: 'ann', reason: 'gone', via: 'code' },
  ])
})

it('a preview says what a poll would find, and changes nothing', async () => {
  const { ask, directory } = await stage()
  writeFileSync(join(directory, 'in', 'two.csv'), 'x')
  const before = (await ask('GET', '/api/v1/sensors/inbox')).body
  const preview = await ask('POST', '/api/v1/sensors/inbox/preview', { body: {} })
  expect(preview.body).toMatchObject({ kind: 'trigger', observations: [{ isNew: false }, { isNew: true }] })
  expect((await ask('GET', '/api/v1/sensors/inbox')).body).toEqual(before)
})

it('after a reset a sensor finds everything again, but not after a dry run', async () => {
  const { ask, app } = await stage()
  const reset = (body: object) => ask('POST', '/api/v1/sensors/inbox/reset', { body })
  expect((await reset({ forgetKeys: true, dryRun: true })).body).toEqual({ sensor: 'inbox', forgotten: null })
  const again = new Promise<void>((resolve) => void app.on('run:ended', () => resolve()))
  expect((await reset({ forgetKeys: true })).body).toEqual({ sensor: 'inbox', forgotten: 1 })
  await again
  const { items } = (await ask('GET', '/api/v1/sensors/inbox/evaluations?limit=1')).body
  expect(items).toMatchObject([{ kind: 'trigger', fresh: 1 }])
})

it('a paused sensor shows who paused it', async () => {
  const { ask } = await stage()
  await ask('POST', '/api/v1/triggers/inbox/pause', { body: { reason: 'bucket moves' } })
  expect((await ask('GET', '/api/v1/sensors/inbox')).body).toMatchObject({
    condition: 'paused',
    pause: { note: 'bucket moves' },
  })
})

it('/hooks accepts signed deliveries, each once, and no others', async () => {
  const parts = testApp()
  const { app } = parts
  const key = Buffer.alloc(24, 7)
  const sensor = webhookSensor({ secret: `whsec_${key.toString('base64')}` })
  app.sensors.define('orders', { sensor, onTrigger: () => undefined })
  await app.start()
  const { ask } = await serveApp(parts, { isLoopback: false })
  const deliver = (path: string, sent: unknown, signed = sent) => {
    const time = String(Math.floor(app.now() / 1000))
    const text = `msg_1.${time}.${JSON.stringify(signed)}`
    const signature = `v1,${createHmac('sha256', key).update(text).digest('base64')}`
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': signature }
    return ask('POST', path, { body: sent, headers })
  }
  expect(await deliver('/hooks/orders', { order: 42 }, { order: 43 })).toMatchObject({ status: 401 })
  expect(await deliver('/hooks/nobody', {})).toMatchObject({ status: 404 })
  expect(await deliver('/hooks/%', {})).toMatchObject({ status: 404 })
  expect(await deliver('/hooks/orders', 'x'.repeat(300_000))).toMatchObject({ status: 413 })
  expect(await app.runs.list()).toEqual([])
  expect(await deliver('/ops/hooks/orders', { order: 42 })).toMatchObject({
    status: 202,
    body: { outcome: 'accepted' },
  })
  expect(await deliver('/hooks/orders', { order: 42 })).toMatchObject({ status: 200 })
  expect(await app.runs.list()).toMatchObject([{ payload: { order: 42 } }])
})

it.each([
  ['GET', '/sensors/inbx', undefined, 404, /did you mean inbox/],
  ['GET', '/sensors/inbx/evaluations', undefined, 404, /inbx/],
  ['POST', '/sensors/inbx/preview', {}, 404, /did you mean inbox/],
  ['POST', '/sensors/inbox/preview', { state: 'nonsense' }, 422, /state/],
  ['POST', '/sensors/inbox/reset', {}, 422, /forgetKeys/],
  ['POST', '/sensors/inbox/reset', { forgetKeys: false, state: 'nonsense' }, 422, /state/],
])('%s %s refuses bad input %#', async (method, path, body, status, detail) => {
  const { ask } = await stage()
  const refused = await ask(method, `/api/v1${path}`, { body })
  expect(refused).toMatchObject({ status, body: { detail: expect.stringMatching(detail) as never } })
})
