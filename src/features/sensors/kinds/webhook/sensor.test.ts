import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../testing/fake-clock.js'
import { observeWebhook, webhookSensor } from './sensor.js'
import { readWebhookRequest, webhookStatuses, type WebhookLimits, type WebhookRequest } from './request.js'
import { verifyWebhook } from './verify.js'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const nowAt = Date.UTC(2026, 0, 15, 23, 30)
const now = new Date(nowAt)

describe('F11: a signature', () => {
  it('F11: is the one of the standard’s own example', () => {
    const verified = verifyWebhook({
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      body: Buffer.from('{"test": 2432232314}'),
      now: new Date(1_614_265_330_000),
    })
    expect(verified).toEqual({
      kind: 'verified',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: new Date(1_614_265_330_000),
      content: { test: 2_432_232_314 },
    })
  })

  it('F11: covers id, time and every byte of the body', () => {
    const good = delivery({ body: '{"a":1}' })
    expect(verify(good)).toMatchObject({ kind: 'verified' })
    const tampered = [
      { ...good, body: Buffer.from('{"a":2}') },
      { ...good, body: Buffer.from('{"a": 1}') },
      { ...good, headers: { ...good.headers, 'webhook-id': 'msg_2' } },
      { ...good, headers: { ...good.headers, 'webhook-timestamp': String(nowAt / 1000 + 1) } },
    ]
    for (const one of tampered) expect(verify(one)).toMatchObject({ kind: 'unsigned' })
  })

  it('F11: may be one of several, made with any of several secrets', () => {
    const older = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const { headers, body } = delivery({ by: older })
    const signatures = `v1a,AAAA v1,AAAA v1,${Buffer.alloc(32).toString('base64')} ${headers['webhook-signature']}`
    const both = { headers: { ...headers, 'webhook-signature': signatures }, body }
    expect(verifyWebhook({ ...both, secrets: [secret, older], now })).toMatchObject({ kind: 'verified' })
    expect(verifyWebhook({ ...both, secrets: [secret], now })).toMatchObject({ kind: 'unsigned' })
  })

  it.each([
    ['five minutes old', 300, 'verified'],
    ['older', 301, 'unsigned'],
    ['five minutes ahead', -300, 'verified'],
    ['further ahead', -301, 'unsigned'],
  ])('F11: %s is %3$s', (_, age, kind) => {
    expect(verify(delivery({ at: nowAt - age * 1000 }))).toMatchObject({ kind })
  })

  it.each([
    ['no id', { 'webhook-id': undefined }],
    ['two ids', { 'webhook-id': 'msg_1, msg_2' }],
    ['a list of ids', { 'webhook-id': ['msg_1', 'msg_2'] }],
    ['an endless id', { 'webhook-id': 'm'.repeat(257) }],
    ['no time', { 'webhook-timestamp': undefined }],
    ['a time in words', { 'webhook-timestamp': 'now' }],
    ['a time in hex', { 'webhook-timestamp': '0x10' }],
    ['no signature', { 'webhook-signature': undefined }],
    ['an empty signature', { 'webhook-signature': '' }],
  ])('F11: with %s it is malformed', (_, headers) => {
    const { headers: all, body } = delivery({})
    expect(verify({ headers: { ...all, ...headers }, body })).toMatchObject({ kind: 'malformed' })
  })

  it.each(['7', '"text"', 'null', '', '{', '\xff'])(
    'F11: over %j is malformed: no object, no array',
    (body) => {
      expect(verify(delivery({ body: Buffer.from(body, 'latin1') }))).toMatchObject({ kind: 'malformed' })
    },
  )

  it('F11: cannot be split differently so that a part of the body counts as the time', () => {
    const at = nowAt / 1000
    const whole = delivery({ id: 'msg_1', body: `${at}.5` })
    const cut = {
      headers: { ...whole.headers, 'webhook-id': `msg_1.${at}`, 'webhook-timestamp': String(at) },
      body: Buffer.from('5'),
    }
    expect(verify(cut)).toMatchObject({ kind: 'malformed' })
  })

  it('F11: of any length and content is accepted only if it is correct', () => {
    for (let i = 0; i < 200; i++) {
      const { headers, body } = delivery({})
      const signature = `v1,${Buffer.alloc(i % 40, i).toString('base64')}`
      expect(verify({ headers: { ...headers, 'webhook-signature': signature }, body }).kind).not.toBe(
        'verified',
      )
    }
  })
})

describe('F11: a delivery', () => {
  it('F11: is identified by its id and belongs to the day on which it was sent, in the zone of the sensor', async () => {
    const { config } = webhookSensor({ secret })
    const observed = await observeWebhook(config, { ...delivery({}), now, timezone: 'Asia/Tokyo' })
    expect(observed).toEqual({
      kind: 'observed',
      observation: { key: 'msg_1', partition: '2026-01-16', payload: { day: '2026-01-14', order: 42 } },
    })
  })

  it('F11: has the same key at every attempt of its sender, which signs each separately', async () => {
    const { config } = webhookSensor({ secret })
    const keys = [nowAt - 60_000, nowAt].map(async (at) => {
      const observed = await observeWebhook(config, { ...delivery({ at }), now, timezone: 'UTC' })
      return observed.kind === 'observed' ? observed.observation.key : observed
    })
    expect(await Promise.all(keys)).toEqual(['msg_1', 'msg_1'])
  })

  it('F11: may be picked by paths and functions, and one without its partition is malformed', async () => {
    const { config } = webhookSensor({ secret, partition: 'day', key: 'order', payload: () => ({ n: 1 }) })
    const observe = (body: string): ReturnType<typeof observeWebhook> =>
      observeWebhook(config, { ...delivery({ body }), now, timezone: 'UTC' })
    await expect(observe('{"day":"2026-01-14","order":42}')).resolves.toMatchObject({
      observation: { key: '42', partition: '2026-01-14', payload: { n: 1 } },
    })
    await expect(observe('{"order":42}')).resolves.toEqual({
      kind: 'malformed',
      reason: 'the partition is missing',
    })
  })

  it('F11: needs a secret, which is never shown', () => {
    for (const wrong of ['hunter2!', 'whsec_c2hvcnQ=', [], '']) {
      expect(() => webhookSensor({ secret: wrong })).toThrow(
        /^(?!.*hunter2)the webhook sensor is not valid: secret: not a secret/,
      )
    }
  })

  it('F11: is not polled', async () => {
    const { sensor, config } = webhookSensor({ secret })
    const signal = new AbortController().signal
    expect(await sensor.poll(null, { config, now, timezone: 'UTC', signal })).toMatchObject({
      kind: 'no-trigger',
    })
  })
})

describe('F11: a request', () => {
  let server: Server
  let limits: WebhookLimits
  let arrived: () => void

  beforeEach(async () => {
    limits = {}
    arrived = () => undefined
    const { config } = webhookSensor({ secret })
    const keys = new Set<string>()
    server = createServer((request, response) => {
      void answer(request, response)
      arrived()
    })
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const read = await readWebhookRequest(request, limits)
      const { kind } = read.kind === 'read' ? await observed(read) : read
      response.writeHead(webhookStatuses[kind], { connection: 'close' }).end(kind)
    }
    // Handles a delivery like an app, with a set of keys in place of its store.
    const observed = async (read: Extract<WebhookRequest, { kind: 'read' }>) => {
      const result = await observeWebhook(config, { ...read, now, timezone: 'UTC' })
      if (result.kind !== 'observed') return result
      const kind = keys.has(result.observation.key) ? 'duplicate' : 'accepted'
      keys.add(result.observation.key)
      return { kind } as const
    }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })

  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  it('F11: that is replayed within five minutes is a duplicate and triggers once', async () => {
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push(await post(delivery({})))
    expect(statuses).toEqual([202, 200, 200])
  })

  it('F11: is answered with the reason for its refusal', async () => {
    const { headers, body } = delivery({})
    expect(await post({ headers: { ...headers, 'webhook-signature': 'v1,AAAA' }, body })).toBe(401)
    expect(await post({ headers: { ...headers, 'webhook-id': '' }, body })).toBe(400)
    expect(await post(delivery({ body: 'not json' }))).toBe(400)
    expect(await post({ headers: { ...headers, 'content-type': 'text/plain' }, body })).toBe(415)
    expect(await post({ headers: { ...headers, 'content-encoding': 'gzip' }, body })).toBe(415)
    expect(await post({ headers, body }, { method: 'PUT' })).toBe(405)
  })

  it('F11: that is too large is refused, by its length or while it is read', async () => {
    limits = { maxBytes: 1000 }
    const large = delivery({ body: JSON.stringify({ text: 'x'.repeat(2000) }) })
    expect(await post(large)).toBe(413)
    expect(await post(large, { isChunked: true })).toBe(413)
    expect(await post(delivery({ body: JSON.stringify({ text: 'x'.repeat(900) }) }))).toBe(202)
  })

  it('F11: whose body does not arrive is refused after the time limit', async () => {
    const clock = new FakeClock(now)
    limits = { clock, timeoutMs: 5000 }
    const begun = new Promise<void>((resolve) => (arrived = resolve))
    const answered = post(delivery({}), { isHeldBack: true })
    await begun
    await clock.advance(5000)
    expect(await answered).toBe(408)
  })

  interface Way {
    readonly method?: string
    readonly isChunked?: boolean
    readonly isHeldBack?: boolean
  }

  function post({ headers, body }: ReturnType<typeof delivery>, way: Way = {}): Promise<number | undefined> {
    const { port } = server.address() as AddressInfo
    const length = way.isChunked === true ? {} : { 'content-length': String(body.length) }
    const all = { 'content-type': 'application/json', ...length, ...headers }
    return new Promise((resolve, reject) => {
      const { method = 'POST' } = way
      const request = send({ host: '127.0.0.1', port, method, headers: all }, (response) => {
        resolve(response.statusCode)
        response.resume()
      })
      // The server closes a refused connection, maybe while the client is still writing.
      request.on('error', reject)
      if (way.isHeldBack === true) request.write(body.subarray(0, 1))
      else request.end(body)
    })
  }
})

function delivery(change: { id?: string; at?: number; body?: string | Buffer; by?: string }): {
  headers: Record<string, string>
  body: Buffer
} {
  const { id = 'msg_1', at = nowAt, by = secret } = change
  const body = Buffer.from(change.body ?? '{"day":"2026-01-14","order":42}')
  const time = String(at / 1000)
  const signature = createHmac('sha256', Buffer.from(by.slice(6), 'base64'))
    .update(`${id}.${time}.`)
    .update(body)
    .digest('base64')
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` },
    body,
  }
}

function verify({
  headers,
  body,
}: Pick<Parameters<typeof verifyWebhook>[0], 'headers' | 'body'>): ReturnType<typeof verifyWebhook> {
  return verifyWebhook({ secrets: [secret], headers, body, now })
}
