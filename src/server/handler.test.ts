import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RotaError } from '../kernel/definition/errors.js'
import { openMemoryStore } from '../store/memory/memory-store.js'
import { roles, type Role } from '../wire/role.js'
import { route, type Route } from '../wire/route.js'
import { toResponse } from './answer.js'
import { apiHandler, type HandlerOptions } from './handler.js'

const answer = z.strictObject({ heard: z.json() })

const routes: readonly Route<object>[] = [
  route({
    method: 'GET',
    path: '/things',
    role: 'read',
    group: 'Things',
    summary: 'Lists things.',
    query: z.strictObject({ limit: z.coerce.number().int().max(500).default(50) }),
    answer,
    handle: async ({ query }) => ({ heard: query.limit }),
  }),
  route({
    method: 'GET',
    path: '/things/{name}',
    role: 'read',
    group: 'Things',
    summary: 'Reads a thing.',
    parts: z.strictObject({ name: z.string().max(20) }),
    answer,
    handle: async ({ parts }) => {
      if (parts.name === 'gone') throw new RotaError('RUN_UNKNOWN', 'it is gone')
      if (parts.name === 'broken') throw new Error('secret of the server')
      return { heard: parts.name }
    },
  }),
  route({
    method: 'POST',
    path: '/things/{name}',
    role: 'operate',
    group: 'Things',
    summary: 'Changes a thing.',
    parts: z.strictObject({ name: z.string() }),
    body: z.strictObject({ value: z.json(), at: z.number().optional() }),
    answer,
    handle: async ({ body }) => ({ heard: body.value ?? null }),
  }),
  route({
    method: 'DELETE',
    path: '/things/{name}',
    role: 'admin',
    group: 'Things',
    summary: 'Removes a thing.',
    parts: z.strictObject({ name: z.string() }),
    answer,
    handle: async () => ({ heard: undefined }),
  }),
]

function stage(given: Partial<HandlerOptions<object>> & { role?: Role } = {}) {
  const trouble: unknown[] = []
  const handle = apiHandler<object>({
    app: {},
    routes,
    identify: async () => ({ actor: 'ann', role: given.role ?? 'admin' }),
    onTrouble: (error) => void trouble.push(error),
    checkAnswers: true,
    store: async () => openMemoryStore(),
    now: () => 0,
    ...given,
  })
  const ask = async (method: string, path: string, init: RequestInit = {}) => {
    const request = new Request(`http://127.0.0.1:7000/ops/api/v1${path}`, { method, ...init })
    const response = toResponse(await handle(request))
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(method, path, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { ask, send, trouble }
}

describe('a request', () => {
  it('reaches its route with its parsed parts', async () => {
    const { ask, send } = stage()
    expect(await ask('GET', '/things')).toMatchObject({ status: 200, body: { heard: 50 } })
    expect(await ask('GET', '/things?limit=7')).toMatchObject({ body: { heard: 7 } })
    expect(await ask('GET', '/things/a%2Fb%20c')).toMatchObject({ body: { heard: 'a/b c' } })
    expect(await send('POST', '/things/a', { value: [1, { a: 2 }] })).toMatchObject({
      body: { heard: [1, { a: 2 }] },
    })
    expect(await send('POST', '/things/a', { value: null }, { 'if-match': '"12"' })).toMatchObject({
      status: 400,
      body: { code: 'REQUEST_MALFORMED' },
    })
    expect(await ask('DELETE', '/things/a')).toMatchObject({ status: 200, body: { heard: null } })
  })

  it.each([
    ['GET', '/nothing', 404, 'ROUTE_UNKNOWN'],
    ['GET', '/things/', 404, 'ROUTE_UNKNOWN'],
    ['GET', '//things', 404, 'ROUTE_UNKNOWN'],
    ['PATCH', '/things', 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS', '/things', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/things/%E0%A4%A', 400, 'REQUEST_MALFORMED'],
    ['GET', '/things?limit=x', 422, 'REQUEST_INVALID'],
    ['GET', '/things?limit=1&limit=2', 422, 'REQUEST_INVALID'],
    ['GET', '/things?other=1', 422, 'REQUEST_INVALID'],
    ['GET', '/things/a?limit=1', 422, 'REQUEST_INVALID'],
    ['GET', `/things/${'a'.repeat(21)}`, 422, 'REQUEST_INVALID'],
    ['GET', '/things/gone', 404, 'RUN_UNKNOWN'],
  ])('%s %s is refused with %i', async (method, path, status, code) => {
    const { ask, trouble } = stage()
    const refused = await ask(method, path)
    expect(refused).toMatchObject({ status, body: { status, code } })
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.body.type).toBe(`urn:rota:error:${code}`)
    expect(refused.body.todo).toMatch(/\.$/)
    expect(trouble).toEqual([])
  })

  it('lists the methods of a path', async () => {
    const { headers } = await stage().ask('PATCH', '/things/a')
    expect(headers.get('allow')).toBe('GET, POST, DELETE')
  })

  it('that causes an error of the server is reported, but not to the caller', async () => {
    const { ask, trouble } = stage()
    const refused = await ask('GET', '/things/broken')
    expect(refused).toMatchObject({ status: 500, body: { code: 'UNEXPECTED' } })
    expect(JSON.stringify(refused.body)).not.toContain('secret of the server')
    expect(trouble).toMatchObject([{ message: 'secret of the server' }])
  })
})

describe('a body', () => {
  const deep = '['.repeat(100) + ']'.repeat(100)

  it.each([
    ['is not JSON', '{"value":', 400, 'REQUEST_MALFORMED'],
    ['has an unknown field', { value: 1, other: 2 }, 422, 'REQUEST_INVALID'],
    ['lacks a field', { at: 1 }, 422, 'REQUEST_INVALID'],
    ['is a list', [1], 422, 'REQUEST_INVALID'],
    ['is nested too deep', `{"value":${deep}}`, 422, 'REQUEST_INVALID'],
    ['has a prototype', '{"value":{"a":{"__proto__":{"isAdmin":true}}}}', 422, 'REQUEST_INVALID'],
    ['is too long', JSON.stringify({ value: 'x'.repeat(1024 * 1024) }), 413, 'REQUEST_TOO_LARGE'],
  ])('that %s is refused', async (_, body, status, code) => {
    const { send } = stage()
    expect(await send('POST', '/things/a', body)).toMatchObject({ status, body: { code } })
  })

  it('must have the content type of JSON', async () => {
    const { send } = stage()
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ]) {
      const refused = await send('POST', '/things/a', { value: 1 }, { 'content-type': type })
      expect(refused).toMatchObject({ status: 415, body: { code: 'MEDIA_TYPE' } })
    }
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect(await send('POST', '/things/a', { value: 1 }, charset)).toMatchObject({ status: 200 })
  })

  it('that is not UTF-8 or is compressed is refused', async () => {
    const { ask } = stage()
    const headers = { 'content-type': 'application/json' }
    const bytes = new Uint8Array([0x7b, 0xff, 0x7d])
    expect(await ask('POST', '/things/a', { body: bytes, headers })).toMatchObject({ status: 400 })
    const zipped = { ...headers, 'content-encoding': 'gzip' }
    expect(await ask('POST', '/things/a', { body: '{}', headers: zipped })).toMatchObject({ status: 415 })
  })

  it('names every fault with its place', async () => {
    const { send } = stage()
    const refused = await send('POST', '/things/a', { value: 1, at: 'x' })
    expect(refused.body.errors).toMatchObject([{ pointer: 'body/at' }])
  })

  it('may be omitted from a removal, and must not be sent to a route that takes none', async () => {
    const { send } = stage()
    expect(await send('DELETE', '/things/a', { force: true })).toMatchObject({ status: 422 })
  })
})

describe('who may call', () => {
  it.each(roles)('the role %s includes the rights of the roles below it', async (role) => {
    const { ask, send } = stage({ role })
    const rank = roles.indexOf(role)
    const statuses = [
      await ask('GET', '/things'),
      await send('POST', '/things/a', { value: 1 }),
      await ask('DELETE', '/things/a'),
    ]
    expect(statuses.map(({ status }) => status)).toEqual(
      [0, 1, 2].map((needed) => (rank >= needed ? 200 : 403)),
    )
  })

  it('a read-only server refuses all changes', async () => {
    const { ask, send } = stage({ readOnly: true })
    expect(await ask('GET', '/things')).toMatchObject({ status: 200 })
    expect(await send('POST', '/things/a', { value: 1 })).toMatchObject({
      status: 403,
      body: { code: 'READ_ONLY' },
    })
  })

  it.each([
    ['cross-site', {}, 403],
    ['same-site', {}, 403],
    ['same-origin', {}, 200],
    ['none', {}, 200],
    [undefined, { origin: 'http://evil.example' }, 403],
    [undefined, { origin: 'null' }, 403],
    [undefined, { origin: 'http://127.0.0.1:7000', host: '127.0.0.1:7000' }, 200],
    [undefined, { origin: 'http://127.0.0.1:7001', host: '127.0.0.1:7000' }, 403],
    [undefined, {}, 200],
  ])('a page of another site is refused: Sec-Fetch-Site %s, %o', async (site, more, status) => {
    const { send } = stage()
    const headers = { ...more, ...(site === undefined ? {} : { 'sec-fetch-site': site }) }
    expect(await send('POST', '/things/a', { value: 1 }, headers as Record<string, string>)).toMatchObject({
      status,
    })
  })
})
