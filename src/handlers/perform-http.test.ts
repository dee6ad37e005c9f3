import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RotaError } from '../kernel/definition/errors.js'
import type { HttpSpec } from '../kernel/job/job.js'
import { refusedAddress, refusedHost } from '../outbound/address-rules.js'
import { performHttp, type HttpContext } from './perform-http.js'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: Server
let origin: string
let port: number
let seen: Seen[]
let answer: (request: Seen, response: ServerResponse) => void

beforeEach(async () => {
  seen = []
  answer = (_, response) => response.end('ok')
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      seen.push(one)
      answer(one, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
  origin = `http://127.0.0.1:${port}`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

describe('a request', () => {
  it('carries the run as idempotency key, the attempt and the headers of the job', async () => {
    const result = await perform({
      url: `${origin}/a?b=1`,
      headers: { 'X-Own': 'yes', Accept: 'text/plain' },
    })
    expect(result).toEqual({ status: 200, body: 'ok' })
    expect(seen).toMatchObject([
      {
        method: 'GET',
        url: '/a?b=1',
        body: '',
        headers: {
          'idempotency-key': 'run-1',
          'x-rota-attempt': '2',
          'x-own': 'yes',
          accept: 'text/plain',
          host: `127.0.0.1:${port}`,
        },
      },
    ])
  })

  it.each<[Partial<HttpSpec>, string, string]>([
    [{ method: 'POST' }, 'POST', '{"from":"payload"}'],
    [{ method: 'PATCH', body: { own: true } }, 'PATCH', '{"own":true}'],
    [{ body: [1] }, 'POST', '[1]'],
    [{ method: 'PUT', body: null }, 'PUT', 'null'],
    [{ method: 'DELETE' }, 'DELETE', ''],
    [{}, 'GET', ''],
  ])('%j is sent as %s with the body %j', async (spec, method, body) => {
    await perform(spec)
    expect(seen[0]).toMatchObject({ method, body })
    expect(seen[0]?.headers['content-type']).toBe(body === '' ? undefined : 'application/json')
  })

  it('returns JSON as a value and everything else as text', async () => {
    answer = (_, response) =>
      response.writeHead(201, { 'content-type': 'application/json; charset=utf-8' }).end('{"a":[1]}')
    await expect(perform({})).resolves.toEqual({ status: 201, body: { a: [1] } })
    answer = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    await expect(perform({})).resolves.toEqual({ status: 200, body: '{"a":' })
    answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0xff, 0]))
    await expect(perform({})).resolves.toEqual({ status: 200, body: '(3 bytes of image/png)' })
    answer = (_, response) => response.writeHead(204).end()
    await expect(perform({})).resolves.toEqual({ status: 204, body: '' })
  })

  it.each([
    ['120', 120_000],
    ['Mon, 05 Jan 2026 02:01:30 GMT', 90_000],
    ['soon', undefined],
  ])('says when to try again where the response does: Retry-After: %s', async (after, retryAfterMs) => {
    const date = 'Mon, 05 Jan 2026 02:00:00 GMT'
    answer = (_, response) => response.writeHead(429, { 'retry-after': after, date }).end()
    await expect(perform({})).rejects.toMatchObject({ status: 429, retryAfterMs })
  })

  it.each([400, 404, 500, 503])('fails with status %i and the beginning of the body', async (status) => {
    answer = (_, response) => response.writeHead(status).end(`broken\x1b[31m ${'x'.repeat(1000)}`)
    await expect(perform({ url: `${origin}/hook?key=secret` })).rejects.toThrow(
      expect.objectContaining({
        code: 'HANDLER_FAILED',
        message: expect.stringMatching(
          new RegExp(
            `^GET ${origin}/hook\\?… answered ${status}: broken\\\\x1b\\[31m x{400,500}… \\[cut\\]$`,
          ),
        ),
      }),
    )
  })

  it('masks its credentials if the answer repeats them', async () => {
    answer = (request, response) => {
      response
        .writeHead(401)
        .end(`no: ${request.headers.authorization} ${String(request.headers['x-api-key'])}`)
    }
    const headers = { Authorization: 'Bearer abc.def', 'X-Api-Key': '12345' }
    await expect(perform({ headers })).rejects.toThrow(/answered 401: no: \*\*\* \*\*\*$/)
    answer = (request, response) => response.end(`token ${request.headers.authorization?.slice(7)}`)
    await expect(perform({ headers })).resolves.toEqual({ status: 200, body: 'token ***' })
  })

  it('keeps the beginning of a huge body and does not wait for the rest', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (response.write('é'.repeat(20_000))) if (response.destroyed) return
        response.once('drain', more)
      }
      more()
    }
    const { body } = (await perform({})) as { body: string }
    expect(body.slice(0, 100)).toBe('é'.repeat(100))
    expect(Buffer.byteLength(body)).toBeGreaterThan(60_000)
    expect(Buffer.byteLength(JSON.stringify({ status: 200, body }))).toBeLessThanOrEqual(65_536)
  })

  it('limits the stored size of a body that consists of escapes', async () => {
    answer = (_, response) => response.end('\u0001'.repeat(60_000))
    const result = await perform({})
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(65_536)
  })

  it('that is not answered names the host', async () => {
    server.close()
    await once(server, 'close')
    await expect(perform({ url: `${origin}/x` })).rejects.toThrow(
      `GET ${origin}/x failed: connection refused by 127.0.0.1:${port}`,
    )
    await expect(perform({ url: 'http://nowhere.invalid/' }, { resolve: async () => [] })).rejects.toThrow(
      'host not found: nowhere.invalid',
    )
  })

  it('that is cut off in the middle of the answer fails', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    }
    await expect(perform({ url: `${origin}/x` })).rejects.toThrow(
      `GET ${origin}/x failed: connection broken by`,
    )
  })

  it('ends immediately when it is aborted, with the reason, and closes its connection', async () => {
    const controller = new AbortController()
    const arrived = new Promise<ServerResponse>((resolve) => {
      answer = (_, response) => resolve(response)
    })
    const performed = perform({}, { signal: controller.signal })
    const response = await arrived
    const closed = once(response, 'close')
    controller.abort(new RotaError('TIMED_OUT', 'took longer than 5 ms'))
    await expect(performed).rejects.toThrow(expect.objectContaining({ code: 'TIMED_OUT' }))
    await closed
    await expect(perform({}, { signal: controller.signal })).rejects.toThrow('took longer than 5 ms')
    expect(seen).toHaveLength(1)
  })

  it('ends immediately when it is aborted during a slow body', async () => {
    const controller = new AbortController()
    answer = (_, response) => response.write('first', () => controller.abort())
    await expect(perform({}, { signal: controller.signal })).rejects.toThrow('stopped on request')
  })
})

describe('a redirect', () => {
  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', '{"a":1}'],
    [308, 'PUT', 'PUT', '{"a":1}'],
  ])('%i turns %s into %s', async (status, method, then, body) => {
    answer = (request, response) => {
      if (request.url === '/') response.writeHead(status, { location: '/next' }).end()
      else response.end('there')
    }
    await expect(perform({ method, body: { a: 1 } })).resolves.toEqual({ status: 200, body: 'there' })
    expect(seen[1]).toMatchObject({ method: then, url: '/next', body })
    expect(seen[1]?.headers['content-length']).toBe(body === '' ? undefined : '7')
  })

  it('in a circle ends after five', async () => {
    answer = (_, response) => response.writeHead(302, { location: '/again?token=x' }).end()
    await expect(perform({})).rejects.toThrow(`more than 5 redirects, last to ${origin}/again?…`)
    expect(seen).toHaveLength(6)
  })

  it('to another origin does not carry credentials', async () => {
    const headers = { Authorization: 'Bearer abc', Cookie: 'a=b', 'X-Api-Key': '12345', 'X-Plain': 'stays' }
    answer = (request, response) => {
      const location = `http://other.example:${port}/next`
      if (request.url === '/') response.writeHead(307, { location }).end()
      else response.end('ok')
    }
    await perform({ headers }, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer abc', 'x-api-key': '12345' })
    expect(seen[1]?.headers).toMatchObject({ 'x-plain': 'stays', 'idempotency-key': 'run-1' })
    for (const name of ['authorization', 'cookie', 'x-api-key'])
      expect(seen[1]?.headers).not.toHaveProperty(name)
  })

  it.each([
    [
      'http://169.254.169.254/latest/meta-data/',
      'target refused: 169.254.169.254 is a link-local or metadata address',
    ],
    [
      'http://[::ffff:169.254.169.254]/',
      'target refused: ::ffff:a9fe:a9fe is a link-local or metadata address',
    ],
    ['http://0xa9fea9fe/', 'target refused: 169.254.169.254 is a link-local or metadata address'],
    [
      'http://METADATA.google.internal./',
      'target refused: metadata.google.internal is the metadata service of a cloud',
    ],
    ['file:///etc/passwd', 'redirected to file:, which is neither http: nor https:'],
    ['http://', 'redirected to http://, which is not a URL'],
  ])('to %s is refused', async (location, message) => {
    answer = (_, response) => response.writeHead(302, { location }).end()
    await expect(perform({})).rejects.toThrow(expect.objectContaining({ code: 'HANDLER_FAILED', message }))
    expect(seen).toHaveLength(1)
  })
})

describe('the address of a target', () => {
  it('is the checked one: a name that changes its address is checked again for each connection', async () => {
    const asked: string[] = []
    const resolve: HttpContext['resolve'] = async (hostname) => {
      asked.push(hostname)
      return [{ address: asked.length === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]
    }
    answer = (_, response) => response.writeHead(302, { location: '/again' }).end()
    await expect(perform({ url: `http://rebind.example:${port}/` }, { resolve })).rejects.toThrow(
      'target refused: rebind.example resolves to 169.254.169.254, a link-local or metadata address',
    )
    expect(asked).toEqual(['rebind.example', 'rebind.example'])
    expect(seen.map((one) => one.headers.host)).toEqual([`rebind.example:${port}`])
  })

  it('is resolved once per connection, so nothing can change between check and connect', async () => {
    let asked = 0
    const resolve: HttpContext['resolve'] = async () => [
      { address: asked++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 },
    ]
    await expect(perform({ url: `http://once.example:${port}/` }, { resolve })).resolves.toMatchObject({
      status: 200,
    })
    expect(asked).toBe(1)
  })

  it('refuses a name with one refused address', async () => {
    const resolve: HttpContext['resolve'] = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: 'fe80::1', family: 6 },
    ]
    await expect(perform({ url: `http://both.example:${port}/` }, { resolve })).rejects.toThrow(
      'target refused: both.example resolves to fe80::1, a link-local',
    )
    expect(seen).toEqual([])
  })

  it('may be private only for definitions that are not made through the API', async () => {
    await expect(perform({}, { privateTargets: 'refuse' })).rejects.toThrow(
      'target refused: 127.0.0.1 is a private address, which definitions made through the API may not reach',
    )
    await expect(perform({ url: `http://localhost:${port}/` }, { privateTargets: 'refuse' })).rejects.toThrow(
      /^target refused: localhost resolves to [\d.:]+, a private address, which definitions made through the API may not reach$/,
    )
    expect(seen).toEqual([])
  })

  const never = [
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::ffff:100.100.100.200',
  ]
  it.each(never)('%s is never reached', (address) => {
    expect(refusedAddress(address, 'allow')).toMatch(/link-local or metadata/)
  })

  const hidden = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fc00::1',
    'fd12::1',
    'fec0::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:c0a8:101::1',
  ]
  it.each(hidden)('%s is private', (address) => {
    expect(refusedAddress(address, 'allow')).toBe(undefined)
    expect(refusedAddress(address, 'refuse')).toMatch(/private/)
  })

  it.each([
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '169.253.255.255',
    '2606:4700::1111',
    '2002:101:101::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('%s is public', (address) => {
    expect(refusedAddress(address, 'refuse')).toBe(undefined)
  })

  it('is checked if the host is an address', () => {
    expect(refusedHost('[fe80::1]', 'allow')).toMatch(/link-local/)
    expect(refusedHost('[::1]', 'refuse')).toMatch(/private/)
    expect(refusedHost('example.org', 'refuse')).toBe(undefined)
  })
})

function perform(spec: Partial<HttpSpec>, change: Partial<HttpContext> = {}): ReturnType<typeof performHttp> {
  const context: HttpContext = {
    run: {
      id: 'run-1',
      job: 'job',
      trigger: undefined,
      attempt: 2,
      isLastAttempt: false,
      dueAt: 0,
      partition: undefined,
      payload: { from: 'payload' },
    },
    signal: new AbortController().signal,
    log: () => undefined,
    privateTargets: 'allow',
    environment: {},
    ...change,
  }
  return performHttp({ kind: 'http', url: `${origin}/`, ...spec }, context)
}
