import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PollResult } from '../../sensor.js'
import { httpSensor, type HttpSensorState } from './sensor.js'
import type { HttpSensorOptions } from './options.js'

let server: Server
let origin: string
let seen: IncomingMessage[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  seen = []
  server = createServer((request, response) => {
    seen.push(request)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

describe('F8: what is ready', () => {
  it('F8: is found by body.ready === true, with body.partition, by a GET without a body', async () => {
    says({ ready: true, partition: '2025-01-15' })
    const result = await poll({})
    expect(result).toMatchObject({
      kind: 'trigger',
      observations: [{ key: '2025-01-15', partition: '2025-01-15' }],
    })
    expect(seen).toMatchObject([{ method: 'GET', url: '/status' }])
    expect(seen[0]?.headers).not.toHaveProperty('content-type')
  })

  it.each([[{ ready: false }], [{ ready: 'true' }], [{ ready: 1 }], [{}], [[]], [null]])(
    'F8: %j is not ready',
    async (body) => {
      says(body)
      await expect(poll({})).resolves.toMatchObject({ kind: 'no-trigger', reason: 'not ready' })
    },
  )

  it('F8: is found once for each new partition, however often it is polled while it stays ready', async () => {
    const found: string[] = []
    let state: HttpSensorState = {}
    for (const partition of ['a', 'a', 'a', 'b', 'b', 'c', 'c']) {
      says({ ready: true, partition })
      const result = await poll({}, state)
      if (result.kind === 'trigger') found.push(...result.observations.map(({ key }) => key))
      ;({ state } = result)
    }
    expect(found).toEqual(['a', 'b', 'c'])
    expect(seen).toHaveLength(7)
  })

  it('F8: is found again with a new key if it has a key', async () => {
    const options = { key: 'build' }
    says({ ready: true, partition: 'p', build: 1 })
    const first = await poll(options)
    expect(first).toMatchObject({ observations: [{ key: '1', partition: 'p' }] })
    says({ ready: true, partition: 'p', build: 2 })
    await expect(poll(options, first.state)).resolves.toMatchObject({
      observations: [{ key: '2', partition: 'p' }],
    })
  })

  it.each<[string, Partial<HttpSensorOptions>]>([
    ['paths', { ready: 'data.ready', partition: "$.data.items[1]['the day']", payload: '$.data.n' }],
    [
      'functions',
      {
        ready: (body) => (body as Body).data.ready,
        partition: async (body) => (body as Body).data.items[1]?.['the day'],
        payload: (body) => (body as Body).data.n,
      },
    ],
  ])('F8: may be picked by %s', async (_, options) => {
    says({ data: { ready: true, items: [{}, { 'the day': '2026-02-03' }], n: 7 } })
    await expect(poll(options)).resolves.toMatchObject({
      observations: [{ partition: '2026-02-03', payload: 7 }],
    })
  })

  it('F8: may be requested with another method, headers and a body', async () => {
    says({ ready: true, partition: 'p' })
    await poll({ method: 'post', headers: { 'X-Tenant': 'a' }, body: { since: 1 } })
    expect(seen[0]).toMatchObject({ method: 'POST', headers: { 'x-tenant': 'a', 'content-length': '11' } })
  })

  it('F8: that was ready at the start is ignored with startFrom now', async () => {
    says({ ready: true, partition: 'a' })
    const first = await poll({ startFrom: 'now' })
    expect(first).toMatchObject({ kind: 'no-trigger', reason: 'a was there at the start' })
    says({ ready: true, partition: 'b' })
    await expect(poll({ startFrom: 'now' }, first.state)).resolves.toMatchObject({ kind: 'trigger' })
  })
})

describe('F8: an error', () => {
  it.each([201, 204, 304, 404, 500, 503])('F8: is every status but 200, such as %i', async (status) => {
    answer = (_, response) => response.writeHead(status).end(status === 204 || status === 304 ? '' : 'why')
    const result = await poll({}, { key: 'kept' })
    expect(result).toMatchObject({ kind: 'error', state: { key: 'kept' } })
    expect(reasonOf(result)).toMatch(new RegExp(`^http_status ${status}: GET ${origin}/status answered`))
  })

  it.each([
    [{ ready: true }, 'the partition is missing'],
    [{ ready: true, partition: null }, 'the partition is missing'],
    [{ ready: true, partition: '' }, 'the partition is missing'],
    [{ ready: true, partition: { a: 1 } }, 'the partition is a map; a text of at most 256'],
    [{ ready: true, partition: 'a\nb' }, 'the partition is "a\\nb"'],
  ])('F8: is a partition that is missing or none: %j', async (body, reason) => {
    says(body)
    const result = await poll({})
    expect(result).toMatchObject({ kind: 'error', state: {} })
    expect(reasonOf(result)).toContain(reason)
  })

  it('F8: is a body that is not JSON, unless text is expected', async () => {
    answer = (_, response) => response.end('<html>log in')
    expect(reasonOf(await poll({}))).toContain('answered with a body that is not JSON: <html>log in')
    const options = {
      parse: 'text',
      ready: (text: unknown) => String(text).includes('log'),
      partition: () => 'p',
    } as const
    await expect(poll(options)).resolves.toMatchObject({ kind: 'trigger' })
  })

  it('F8: is a body over the size limit, and the rest of it is not read', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (response.write(' '.repeat(20_000))) if (response.destroyed) return
        response.once('drain', more)
      }
      more()
    }
    expect(reasonOf(await poll({ maxBytes: 1000 }))).toContain('answered with more than 1000 bytes')
  })

  it('F8: is a function that throws', async () => {
    says({ ready: true, partition: 'p' })
    const broken = (): never => {
      throw new Error('no such field')
    }
    expect(reasonOf(await poll({ ready: broken }))).toBe('the function for ready threw: no such field')
    expect(reasonOf(await poll({ partition: broken }))).toBe(
      'the function for partition threw: no such field',
    )
  })

  it('F8: is a server that does not answer in time, or an aborted poll', async () => {
    const controller = new AbortController()
    answer = () => undefined
    expect(reasonOf(await poll({ timeout: 20 }))).toBe('no answer within 20 ms')
    answer = () => controller.abort()
    expect(reasonOf(await poll({}, {}, controller.signal))).toBe('the poll was aborted')
  })

  it('F8: masks the secrets of its headers', async () => {
    answer = (request, response) =>
      response
        .writeHead(403)
        .end(`no: ${request.headers.authorization} ${String(request.headers['x-api-key'])}`)
    const headers = { Authorization: 'Bearer abc.def', 'X-Api-Key': '12345' }
    expect(reasonOf(await poll({ headers }))).toMatch(/answered 403: no: \*\*\* \*\*\*$/)
  })
})

describe('F8: an answer that did not change', () => {
  it('F8: is requested by ETag and Last-Modified, and 304 finds nothing', async () => {
    const modified = 'Wed, 15 Jan 2025 10:00:00 GMT'
    answer = (request, response) => {
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end()
      else
        response
          .writeHead(200, { etag: '"v1"', 'last-modified': modified })
          .end('{"ready":true,"partition":"a"}')
    }
    const first = await poll({})
    const second = await poll({}, first.state)
    expect(first.kind).toBe('trigger')
    expect(second).toMatchObject({ kind: 'no-trigger', reason: 'not modified', state: first.state })
    expect(seen[1]?.headers).toMatchObject({ 'if-none-match': '"v1"', 'if-modified-since': modified })
  })

  it('F8: is requested without conditions if the settings have changed', async () => {
    answer = (request, response) => {
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end()
      else response.writeHead(200, { etag: '"v1"' }).end('{"done":true,"partition":"a"}')
    }
    const first = await poll({})
    expect(first).toMatchObject({ kind: 'no-trigger', reason: 'not ready' })
    await expect(poll({ ready: 'done' }, first.state)).resolves.toMatchObject({ kind: 'trigger' })
  })

  it('F8: is requested without conditions after an error, which would otherwise never be seen again', async () => {
    answer = (_, response) => response.writeHead(200, { etag: '"v1"' }).end('{"ready":true}')
    const first = await poll({})
    expect(first).toMatchObject({ kind: 'error', state: {} })
    await expect(poll({}, first.state)).resolves.toMatchObject({ kind: 'error' })
    expect(seen[1]?.headers).not.toHaveProperty('if-none-match')
  })

  it('F8: after redirects is requested without conditions: they may lead elsewhere', async () => {
    answer = (request, response) => {
      if (request.url === '/status') response.writeHead(302, { location: `/${seen.length}` }).end()
      else response.writeHead(200, { etag: '"same"' }).end(`{"ready":true,"partition":"${request.url}"}`)
    }
    const first = await poll({})
    const second = await poll({}, first.state)
    expect([first, second]).toMatchObject([
      { observations: [{ partition: '/1' }] },
      { observations: [{ partition: '/3' }] },
    ])
    expect(seen.some(({ headers }) => 'if-none-match' in headers)).toBe(false)
  })
})

describe('F8: a target', () => {
  it('F8: is checked after resolution and after every redirect', async () => {
    answer = (_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
    expect(reasonOf(await poll({}))).toBe(
      'target refused: 169.254.169.254 is a link-local or metadata address',
    )
    const resolve = async () => [{ address: '169.254.169.254', family: 4 }]
    expect(reasonOf(await poll({ url: 'http://rebind.example/', resolve }))).toContain(
      'target refused: rebind.example resolves to 169.254.169.254',
    )
    expect(reasonOf(await poll({ privateTargets: 'refuse' }))).toContain('is a private address')
    expect(seen).toHaveLength(1)
  })

  it('F8: that is down is an error that names the host', async () => {
    server.close()
    await once(server, 'close')
    expect(reasonOf(await poll({}))).toBe(
      `GET ${origin}/status failed: connection refused by ${origin.slice(7)}`,
    )
  })
})

it('F8: reports all faults of its settings together', () => {
  const options = {
    url: 'ftp://x',
    ready: 'a..b',
    partition: 5,
    timeout: 'soon',
    headers: { 'a b': 'x' },
    until: 1,
  } as unknown as HttpSensorOptions
  const paths = (): unknown => {
    try {
      return httpSensor(options)
    } catch (error) {
      return (error as { faults: { path: string }[] }).faults.map(({ path }) => path)
    }
  }
  expect(new Set(paths() as string[])).toEqual(
    new Set(['until', 'url', 'ready', 'partition', 'timeout', 'headers.a b']),
  )
})

type Body = { readonly data: { ready: boolean; n: number; items: { 'the day': string }[] } }

function says(body: unknown): void {
  answer = (_, response) => response.end(JSON.stringify(body))
}

async function poll(
  options: Partial<HttpSensorOptions>,
  state: HttpSensorState = {},
  signal = new AbortController().signal,
): Promise<PollResult<HttpSensorState>> {
  const { sensor, config } = httpSensor({ url: `${origin}/status`, ...options })
  return await sensor.poll(state, { config, now: new Date(0), timezone: 'UTC', signal })
}

function reasonOf(result: PollResult): string | undefined {
  return result.kind === 'trigger' ? undefined : result.reason
}
