/** Attacks on the served API, over real connections: nothing is answered with 5xx, nothing hangs, nothing leaks. */
import { connect } from 'node:net'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp, type App } from '../src/app/rota.js'
import { createToken } from '../src/server/access/tokens.js'

let app: App
let port = 0
let token = ''
const trouble: unknown[] = []

const script = '<script>alert(1)</script>"\'\u202e\u001b[31m'

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-attack-'))
  app = createApp({ store: `sqlite:${join(directory, 'rota.db')}` }, 'code:attacked')
  app.on('trouble', ({ error }) => void trouble.push(error))
  app.job('greet', (run) => {
    run.log(script)
    throw new Error(`no luck with ${JSON.stringify(run.payload)}`)
  })
  app.schedule('nightly', { job: 'greet', cron: '0 2 * * *', payload: { text: script } })
  await app.start()
  const store = await app.store()
  token = (await createToken(store, { name: 'admin', role: 'admin', expiresAt: undefined, now: app.now() }))
    .token
  const address = await app.listen({ port: 0 })
  port = address.port
  // The first request loads the parts of the server; it is not measured.
  await fetch(`http://127.0.0.1:${port}/api/v1/runs`)
})

afterAll(async () => {
  await app.stop({ grace: 0 })
  expect(trouble).toEqual([])
})

/** Sends bytes as they are, and reads until the server closes the connection or has answered. */
async function send(bytes: string, { waitMs = 5000 } = {}): Promise<{ statuses: number[]; text: string }> {
  return await new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const done = (): void => {
      socket.destroy()
      resolve({
        statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1])),
        text,
      })
    }
    socket.setTimeout(waitMs, done)
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('close', done)
    socket.on('error', (error) => (text === '' ? reject(error) : done()))
  })
}

const host = (): string => `Host: 127.0.0.1:${port}\r\n`
const json = 'Content-Type: application/json\r\n'

async function ask(
  method: string,
  path: string,
  given: { body?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(given.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given.headers,
    },
    ...(given.body === undefined ? {} : { body: given.body }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

describe('request smuggling', () => {
  const hidden = 'GET /api/v1/runs HTTP/1.1\r\nX: y\r\n'

  it.each([
    [
      'a length and chunks together',
      `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['two different lengths', `Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello${hidden}`],
    ['a length that is not a number', `Content-Length: +5\r\n\r\nhello`],
    ['an encoding that is misspelled', `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a chunk with a length that is too large', `Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n`],
    ['a header that is folded', `X-Folded: a\r\n b: c\r\nContent-Length: 0\r\n\r\n`],
  ])('%s gives one refusal and no second answer', async (_, rest) => {
    const { statuses } = await send(
      `POST /api/v1/freeze HTTP/1.1\r\n${host()}${json}Connection: close\r\n${rest}`,
    )
    expect(statuses.length).toBeLessThanOrEqual(1)
    for (const status of statuses) expect(status).toBeGreaterThanOrEqual(400)
    for (const status of statuses) expect(status).toBeLessThan(500)
    expect(await (await app.store()).holds()).toEqual([])
  })

  it('a line break in a header or in the path adds no header and no request', async () => {
    const { statuses, text } = await send(
      `GET /api/v1/runs?limit=1%0d%0aSet-Cookie:x HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`,
    )
    expect(statuses).toEqual([422])
    expect(text.toLowerCase()).not.toContain('set-cookie')
  })
})

describe('forged senders', () => {
  const change = { body: '{"reason":"x"}' }

  it.each([
    ['the host of another machine', { host: 'evil.example' }, 'HOST_REFUSED'],
    ['a name that points to this machine', { host: 'localhost.evil.example' }, 'HOST_REFUSED'],
    ['this machine as a number', { host: '2130706433' }, 'HOST_REFUSED'],
  ])('a request with %s is refused', async (_, { host: forged }, code) => {
    const { statuses, text } = await send(
      `GET /api/v1/runs HTTP/1.1\r\nHost: ${forged}\r\nConnection: close\r\n\r\n`,
    )
    expect(statuses).toEqual([403])
    expect(text).toContain(code)
  })

  it('a host with a user name is refused', async () => {
    const { statuses } = await send(
      'GET / HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(statuses).toEqual([400])
  })

  it.each([
    ['a form of another site', { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }],
    ['a page of a sister domain', { 'sec-fetch-site': 'same-site' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['an origin with another port', { origin: 'http://127.0.0.1:1' }],
    ['an origin that only begins like ours', { origin: 'http://127.0.0.1.evil.example' }],
  ])('a change from %s is refused', async (_, headers) => {
    const { status, text } = await ask('POST', '/api/v1/freeze', { ...change, headers })
    expect({ status, text }).toMatchObject({ status: 403, text: expect.stringContaining('ORIGIN_REFUSED') })
    expect(await (await app.store()).holds()).toEqual([])
  })

  it('a form cannot send a change, because a body has to be JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const { status } = await ask('POST', '/api/v1/freeze', { ...change, headers: { 'content-type': type } })
      expect({ type, status }).toEqual({ type, status: 415 })
    }
  })

  it('no GET and no HEAD changes anything', async () => {
    for (const path of ['/freeze', '/triggers/nightly/pause', '/triggers/nightly/run', '/tokens']) {
      await ask('GET', `/api/v1${path}?reason=x`)
      await ask('HEAD', `/api/v1${path}`)
    }
    expect(await (await app.store()).holds()).toEqual([])
  })

  it('a login does not take over the session of somebody else', async () => {
    const fixed = 'A'.repeat(43)
    const headers = { cookie: `rota_session=${fixed}`, 'sec-fetch-site': 'same-origin' }
    const login = await ask('POST', '/api/v1/session', { body: JSON.stringify({ token }), headers })
    expect(login.status).toBe(200)
    const given = /rota_session=([\w-]{43})/.exec(login.headers.get('set-cookie') ?? '')?.[1]
    expect(given).not.toBe(fixed)
    const forwarded = { cookie: `rota_session=${fixed}`, 'x-forwarded-for': '203.0.113.7' }
    expect((await ask('GET', '/api/v1/session', { headers: forwarded })).status).toBe(401)
  })

  it('a token is accepted in its header only', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (const path of [`/api/v1/session?token=${token}`, `/api/v1/session?access_token=${token}`]) {
      const { status, text } = await ask('GET', path, { headers })
      expect(status).toBe(401)
      expect(text).not.toContain(token)
    }
    const good = { ...headers, authorization: `Bearer ${token}` }
    expect((await ask('GET', '/api/v1/session', { headers: good })).status).toBe(200)
    for (const wrong of [
      `Basic ${token}`,
      `Bearer ${token} `.repeat(2),
      `Bearer ${token.slice(0, -1)}`,
      'Bearer',
    ]) {
      expect(
        (await ask('GET', '/api/v1/session', { headers: { ...headers, authorization: wrong } })).status,
      ).toBe(401)
    }
  })
})

describe('bodies', () => {
  it.each([
    ['a polluted prototype', '{"job":"greet","__proto__":{"isAdmin":true}}'],
    ['a polluted prototype below', '{"job":"greet","payload":{"a":[{"__proto__":{"x":1}}]}}'],
    ['a constructor as a field', '{"job":"greet","constructor":{"prototype":{"x":1}}}'],
    ['a deep tree', `{"job":"greet","payload":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['two megabytes', `{"job":"greet","payload":"${'x'.repeat(2_000_000)}"}`],
    ['a payload that is too large', `{"job":"greet","payload":"${'x'.repeat(300_000)}"}`],
    ['no JSON', '{"job":'],
    ['a number that is infinite', '{"job":"greet","priority":1e400}'],
    ['half a character', '{"job":"greet","payload":"\\ud800","partition":"\\u0000"}'],
    ['a list instead of an object', '[1,2,3]'],
    ['nothing but null', 'null'],
    ['a million keys', `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}`],
  ])('%s is refused or stored as it is', async (_, body) => {
    const { status } = await ask('POST', '/api/v1/runs', { body })
    expect(status).toBeLessThan(500)
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('a body that is compressed is refused, not unpacked', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await ask('POST', '/api/v1/runs', { body: '{}', headers })).status).toBe(415)
  })
})

describe('addresses', () => {
  it.each([
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/assets/..%5c..%5cpackage.json',
    '/%2e%2e/package.json',
    '//evil.example/',
    '/api/v1/runs/%2e%2e%2ftokens',
    '/api/v1/runs/%00',
    '/api/v1/runs/%zz',
    '/api/v1/triggers/__proto__',
    '/api/v1/triggers/constructor',
    '/hooks/__proto__',
    '/api/v1/runs?limit=__proto__&constructor=1',
    `/api/v1/runs?${'a=1&'.repeat(2000)}`,
  ])('%s leaks nothing', async (path) => {
    const { statuses, text } = await send(`GET ${path} HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`)
    expect(statuses).toHaveLength(1)
    expect(statuses[0]).toBeLessThan(500)
    expect(text).not.toContain('root:')
    expect(text).not.toContain('"devDependencies"')
  })

  it.each([
    ['a header of 20 kB', `GET /api/v1/runs HTTP/1.1\r\n{host}X: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['an address of 20 kB', `GET /api/v1/runs?search=${'a'.repeat(20_000)} HTTP/1.1\r\n{host}\r\n`],
    ['ten thousand headers', `GET /api/v1/runs HTTP/1.1\r\n{host}${'X: y\r\n'.repeat(10_000)}\r\n`],
    ['no HTTP', `\u0016\u0003\u0001\u0000hello\r\n\r\n`],
    ['a method that does not exist', `BREW /api/v1/runs HTTP/1.1\r\n{host}\r\n`],
  ])('%s is refused and the connection ends', async (_, bytes) => {
    const { statuses } = await send(bytes.replace('{host}', `${host()}Connection: close\r\n`))
    expect(statuses).toHaveLength(1)
    expect(statuses[0]).toBeGreaterThanOrEqual(400)
    expect(statuses[0]).toBeLessThan(500)
  })
})

describe('expensive queries', () => {
  const evil = `${'a'.repeat(250)}!`

  it.each([
    ['GET', `/api/v1/triggers?search=${'%25'.repeat(80)}${'_'.repeat(150)}`, undefined],
    ['GET', `/api/v1/runs?q=${encodeURIComponent(`error:${'*a'.repeat(100)}`)}`, undefined],
    ['GET', `/api/v1/runs?q=${encodeURIComponent('('.repeat(500))}`, undefined],
    ['POST', '/api/v1/preview', { expression: '0 0 30 2 *', count: 1000 }],
    ['POST', '/api/v1/preview', { expression: `${'1,'.repeat(450)}1 * * * *` }],
    ['POST', '/api/v1/preview', { expression: '1--100000000 * * * *' }],
    ['POST', '/api/v1/preview', { expression: '0 0 29 2 1#5', count: 1000 }],
    ['POST', '/api/v1/preview', { expression: evil }],
    ['POST', '/api/v1/preview', { expression: '* * * * * *', from: '1970-01-01T00:00:00Z', count: 1000 }],
    ['GET', '/api/v1/why?trigger=nightly&from=1970-01-01T00:00:00Z&until=9999-01-01T00:00:00Z', undefined],
  ])('%s %s is answered or refused soon', async (method, path, body) => {
    const began = performance.now()
    const given = body === undefined ? {} : { body: JSON.stringify(body) }
    const { status } = await ask(method, path, given)
    expect(status).toBeLessThan(500)
    expect(performance.now() - began).toBeLessThan(5000)
  })
})

describe('requests that the server would send on behalf of others', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://metadata.google.internal/',
    'http://user:secret@example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:25/',
  ])('a job of %s is refused, and neither stored nor called', async (url) => {
    const body = JSON.stringify({ jobs: { stolen: { http: { url } } } })
    const { status, text } = await ask('POST', '/api/v1/jobs', { body })
    expect(status).toBe(422)
    expect(text).not.toContain('secret@')
    expect((await ask('GET', '/api/v1/jobs/stolen')).status).toBe(404)
  })
})

describe('slow and greedy clients', () => {
  it('headers that never end are refused after a time limit', async () => {
    const { statuses } = await send(`GET /api/v1/runs HTTP/1.1\r\n${host()}X-Slow: `, { waitMs: 20_000 })
    expect(statuses).toEqual([408])
  })

  it('at most two hundred streams are open, and the next one is refused', async () => {
    const open = await Promise.all(
      Array.from({ length: 200 }, () => fetch(`http://127.0.0.1:${port}/api/v1/stream`)),
    )
    expect(open.filter(({ status }) => status !== 200)).toEqual([])
    const refused = await ask('GET', '/api/v1/stream')
    expect({ status: refused.status, text: refused.text }).toMatchObject({
      status: 503,
      text: expect.stringContaining('TOO_MANY_STREAMS'),
    })
    await Promise.all(open.map(async ({ body }) => await body?.cancel()))
    await expect
      .poll(async () => {
        const next = await fetch(`http://127.0.0.1:${port}/api/v1/stream`)
        await next.body?.cancel()
        return next.status
      })
      .toBe(200)
  })
})

describe('stored text', () => {
  it('is returned as JSON that no browser treats as a page', async () => {
    const body = JSON.stringify({ job: 'greet', payload: { text: script } })
    const { text } = await ask('POST', '/api/v1/runs', { body })
    const { id } = JSON.parse(text) as { id: string }
    await app.runs.wait(id)
    for (const path of [
      `/runs/${id}`,
      `/runs/${id}/logs`,
      `/runs/${id}/attempts`,
      '/triggers/nightly',
      '/runs',
    ]) {
      const { status, headers } = await ask('GET', `/api/v1${path}`)
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    }
  })

  it('an error that quotes the request does not become a page', async () => {
    const { text, headers } = await ask('GET', `/api/v1/triggers/${encodeURIComponent(script)}`)
    expect(text).toContain('TRIGGER_UNKNOWN')
    expect(headers.get('content-type')).toBe('application/problem+json')
  })
})
