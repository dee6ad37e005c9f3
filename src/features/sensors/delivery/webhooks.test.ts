import { createHmac } from 'node:crypto'
import { request as send } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { webhookSensor } from '../kinds/webhook/sensor.js'
import { systemClock } from '../../../time/clock.js'
import { rota, type Rota } from '../../../app/rota.js'
import { HttpServer } from '../../../server/listen.js'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
let app: Rota

afterEach(() => app.stop({ grace: 0 }))

test('F11: a signed delivery is a durable run when it is answered, and a repeated one creates no run', async () => {
  const { port, seen } = await listening()
  expect(await post(port, { id: 'msg_1', body: '{"order":42}' })).toEqual([202, { outcome: 'accepted' }])
  expect(await app.runs.list()).toMatchObject([{ labels: { key: 'msg_1' }, payload: { order: 42 } }])
  expect(await post(port, { id: 'msg_1', body: '{"order":42}' })).toEqual([200, { outcome: 'duplicate' }])
  expect(await app.runs.list()).toHaveLength(1)
  await app.runs.wait((await app.runs.list())[0]?.id ?? '')
  expect(seen).toEqual([{ order: 42 }])
})

test('F11: each refusal has its status, and creates no run', async () => {
  const { port } = await listening()
  const wrongSecret = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
  expect(await post(port, { by: wrongSecret })).toMatchObject([401, { outcome: 'unsigned' }])
  expect(await post(port, { at: Date.now() - 301_000 })).toMatchObject([401, { outcome: 'unsigned' }])
  expect(await post(port, { body: 'no json' })).toMatchObject([400, { outcome: 'malformed' }])
  expect(await post(port, { headers: { 'webhook-id': '' } })).toMatchObject([400, { outcome: 'malformed' }])
  expect(await post(port, { path: '/webhooks/nobody' })).toMatchObject([404, { outcome: 'unknown-sensor' }])
  expect(await post(port, { path: '/webhooks/polled' })).toMatchObject([404, { outcome: 'unknown-sensor' }])
  expect(await post(port, { path: '/webhooks/%' })).toMatchObject([404, { outcome: 'unknown-sensor' }])
  expect(await post(port, { path: '/' })).toMatchObject([404, { outcome: 'unknown-sensor' }])
  expect(await post(port, { method: 'GET' })).toMatchObject([405, { outcome: 'wrong-method' }])
  const text = { 'content-type': 'text/plain' }
  expect(await post(port, { headers: text })).toMatchObject([415, { outcome: 'wrong-type' }])
  const body = JSON.stringify('x'.repeat(300_000))
  expect(await post(port, { body })).toMatchObject([413, { outcome: 'too-large' }])
  expect(await app.runs.list()).toEqual([])
})

test('F11: a delivery that can never be stored is answered as malformed, so that its sender does not repeat it forever', async () => {
  const { port } = await listening()
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`
  expect(await post(port, { body: deep })).toMatchObject([400, { outcome: 'malformed' }])
  const path = '/webhooks/picked'
  const half = '{"day":"\\ud800"}'
  expect(await post(port, { path, body: half })).toMatchObject([400, { outcome: 'malformed' }])
  expect(await post(port, { path, body: '{"day":"é\u0301 日"}' })).toMatchObject([202, {}])
  expect(await app.runs.list()).toMatchObject([{ partition: 'é\u0301 日' }])
})

test('F11: a body of ten megabytes is refused, and its sender gets the answer', async () => {
  const { port } = await listening()
  const body = JSON.stringify(['x'.repeat(10_000_000)])
  expect(await post(port, { body })).toMatchObject([413, { outcome: 'too-large' }])
  expect(await post(port, { body: '{}' })).toMatchObject([202, { outcome: 'accepted' }])
})

test('F11: while its sensor is paused, a delivery gets 503, and is accepted afterwards', async () => {
  const { port } = await listening()
  await app.triggers.pause('orders')
  expect(await post(port, {})).toMatchObject([503, { outcome: 'paused' }])
  await app.triggers.resume('orders')
  expect(await post(port, {})).toMatchObject([202, { outcome: 'accepted' }])
})

test('F11: a body in another character set than UTF-8 is refused', async () => {
  const { port } = await listening()
  const typed = (type: string): Delivery => ({ headers: { 'content-type': `application/json${type}` } })
  for (const type of ['; charset=iso-8859-1', ';charset="utf-16"', '; charset=utf-8; charset=latin1']) {
    expect(await post(port, typed(type))).toMatchObject([415, { outcome: 'wrong-type' }])
  }
  expect(await post(port, typed('; charset="UTF-8"'))).toMatchObject([202, {}])
  expect(await post(port, typed('; profile=x; charset=utf8'))).toMatchObject([200, {}])
})

test.each([
  ['is no HTTP', 'good day\r\n\r\n', 400],
  ['has no host', 'POST /webhooks/orders HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
  ['expects what nobody knows', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: x\r\nconnection: close\r\n\r\n', 404],
  ['has endless headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])(
  'F11: a request that %s is answered like every other, for no browser to guess about',
  async (_, text, status) => {
    const { port } = await listening()
    const answer = await raw(port, text)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n/i)
    expect(answer).toMatch(/\r\ncontent-type: application\/json\r\n/i)
  },
)

test('F11: a request whose headers do not arrive in time is answered and closed', async () => {
  // The real limit is ten seconds; it is enforced in the same way.
  const server = new HttpServer(() => undefined, { clock: systemClock, headersMs: 100 })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const answer = await raw(port, 'POST /webhooks/orders HTTP/1.1\r\nhost: x\r\n')
  await server.close()
  expect(answer).toContain('HTTP/1.1 408 ')
  expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n/i)
})

test('F11: an address that cannot be bound is reported with the reason', async () => {
  const { port } = await listening()
  const taken = app.sensors.listen({ port })
  await expect(taken).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    message: `cannot listen at 127.0.0.1:${port}: the address is in use`,
  })
  await expect(app.sensors.listen({ host: '203.0.113.1', port: 0 })).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    message: expect.stringContaining('this machine does not have the address'),
  })
})

test('F11: deliveries before the app has started get 503', async () => {
  app = rota({ store: 'memory:' })
  app.sensors.define('orders', { sensor: webhookSensor({ secret }), onTrigger: () => undefined })
  const { port } = await app.sensors.listen({ port: 0 })
  expect(await post(port, {})).toMatchObject([503, { outcome: 'store-away' }])
  await app.start()
  expect(await post(port, {})).toMatchObject([202, { outcome: 'accepted' }])
})

test('F11: a stopped app does not listen any more', async () => {
  const { port } = await listening()
  await app.stop({ grace: 0 })
  await expect(post(port, {})).rejects.toThrow(/ECONNREFUSED/)
})

async function listening(): Promise<{ port: number; seen: unknown[] }> {
  const seen: unknown[] = []
  app = rota({ store: 'memory:' })
  app.sensors.define('orders', {
    sensor: webhookSensor({ secret }),
    onTrigger: (_, run) => void seen.push(run.payload),
  })
  app.sensors.define('picked', { sensor: webhookSensor({ secret, partition: 'day' }), job: 'orders' })
  app.sensors.define('polled', {
    sensor: { init: () => ({ kind: 'ok', state: null }), poll: (state) => ({ kind: 'no-trigger', state }) },
    job: 'orders',
  })
  await app.start()
  const { host, port } = await app.sensors.listen({ port: 0 })
  expect(host).toBe('127.0.0.1')
  return { port, seen }
}

interface Delivery {
  readonly id?: string
  readonly at?: number
  readonly body?: string
  readonly by?: string
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends raw bytes and returns the whole response. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (part: string) => (answer += part))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

function post(port: number, delivery: Delivery): Promise<[number | undefined, unknown]> {
  const { id = 'msg_1', at = Date.now(), body = '{}', by = secret } = delivery
  const { path = '/webhooks/orders', method = 'POST' } = delivery
  const time = String(Math.floor(at / 1000))
  const key = Buffer.from(by.slice(6), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
    ...delivery.headers,
  }
  return new Promise((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve([response.statusCode, JSON.parse(Buffer.concat(chunks).toString())]))
    })
    request.on('error', reject)
    request.end(method === 'POST' ? body : undefined)
  })
}
