import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { addressOf, checkExamples, filled, serveApp, testApp } from '../../../test/fixtures/api-stage.js'
import { createToken } from '../../server/access/tokens.js'
import { includesRole, roles } from '../../wire/role.js'
import type { Route } from '../../wire/route.js'
import type { App } from '../rota.js'
import { loadFeatureRoutes } from './feature-routes.js'
import { allRoutes } from './served.js'

const routes = await allRoutes({ isMounted: false })
const ofFeatures = new Set((await loadFeatureRoutes()).map(keyOf))

/** A served app on a real store that has a trigger, and runs that are done, failed and pending. */
async function stage(options: { isLoopback?: boolean } = {}) {
  const parts = testApp()
  const { app } = parts
  app.job('greet', ({ payload }) => {
    if (payload === 'fail') throw new Error('no luck')
    return 'hello'
  })
  app.schedule('nightly', { job: 'greet', cron: '0 2 * * *', timezone: 'Europe/Berlin' })
  await app.start()
  const failed = await app.enqueue('greet', 'fail')
  const done = await app.enqueue('greet', 'x')
  const pending = await app.enqueue('greet', 'x', { delay: '1h' })
  await Promise.all([failed, done].map(({ id }) => app.runs.wait(id)))
  await app.triggers.add({ hourly: { job: 'greet', every: '1h' } })
  await app.jobs.add({ spare: { command: ['true'] } })
  const days = { from: '2026-01-01T00:00:00Z', to: '2026-01-05T00:00:00Z', definition: 'current' } as const
  const { backfill } = await app.triggers.backfill('nightly', days)
  const ids = { failed: failed.id, done: done.id, pending: pending.id }
  const served = await serveApp(parts, options)
  const made = await createToken(await app.store(), {
    name: 'laptop',
    role: 'read',
    expiresAt: undefined,
    now: app.now(),
  })
  const examples = {
    '20260105t0900': done.id,
    '20260105t0800': failed.id,
    '20260105t1000': pending.id,
    '0123456789ab': made.id,
    'bf-1f2e3d4c': backfill?.id ?? '',
    rota_0123456789ab_secret: made.token,
  }
  return { app, ...served, ids, examples }
}

describe('the routes', () => {
  it('answer their examples in the form of their schemas', async () => {
    const { ask, app, examples } = await stage()
    // Each feature tests its own routes. The stream never ends; another test reads it.
    const own = routes.filter(
      (one) => one.example !== undefined && !ofFeatures.has(keyOf(one)) && one.path !== '/stream',
    )
    expect(own.length).toBeGreaterThan(40)
    const [worker] = await app.workers.list()
    await checkExamples(ask, own, { ...examples, 'web-1': worker?.host ?? '' })
  })

  it('return how long the store keeps its data', async () => {
    const { ask, app } = await stage()
    const { items } = (await ask('GET', '/api/v1/retention')).body as unknown as {
      items: { what: string; keptMs: number }[]
    }
    const days = Object.fromEntries(items.map(({ what, keptMs }) => [what, keptMs / 86_400_000]))
    expect(days).toEqual({ runs: 30, audit: 400, rollups: 400, coverage: 400, requests: 1, sessions: 0.5 })
    await app.jobs.add({ short: { command: ['true'], retention: { failed: { age: '90d', count: 9 } } } })
    const after = (await ask('GET', '/api/v1/retention')).body as unknown as { items: unknown[] }
    expect(after.items).toContainEqual({
      what: 'runs',
      job: 'short',
      state: 'failed',
      keptMs: 90 * 86_400_000,
      most: 9,
      about: 'failed runs of short',
    })
  })

  it('list triggers in pages, forwards and backwards', async () => {
    const { ask, app } = await stage()
    await app.triggers.add(
      Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name, i) => [name, { job: 'greet', every: `${i + 1}h` }]),
      ),
    )
    for (const order of ['name', 'next']) {
      const all = (await ask('GET', `/api/v1/triggers?order=${order}`)).body.items.map(({ name }) => name)
      expect(all).toHaveLength(7)
      const page = async (cursor: string) => {
        const { body } = await ask('GET', `/api/v1/triggers?order=${order}&limit=3${cursor}`)
        return {
          names: body.items.map(({ name }) => name),
          next: body.next,
          previous: body['previous'] as unknown,
        }
      }
      const first = await page('')
      expect(first).toMatchObject({ names: all.slice(0, 3), previous: null })
      const second = await page(`&after=${first.next}`)
      expect(second.names).toEqual(all.slice(3, 6))
      const last = await page(`&after=${second.next}`)
      expect(last).toMatchObject({ names: all.slice(6), next: null })
      expect((await page(`&before=${String(last.previous)}`)).names).toEqual(all.slice(3, 6))
      const back = await page(`&before=${String(second.previous)}`)
      expect(back).toMatchObject({ names: all.slice(0, 3), previous: null })
      expect((await page(`&after=${back.next}`)).names).toEqual(all.slice(3, 6))
    }
    expect((await ask('GET', '/api/v1/triggers?before=nonsense')).status).toBe(422)
  })

  it('all have an example', () => {
    expect(routes.filter(({ example, isPrivate }) => example === undefined && isPrivate !== true)).toEqual([])
  })

  it('show, retry and cancel runs', async () => {
    const { ask, ids } = await stage()
    const list = await ask('GET', '/api/v1/runs?limit=2')
    expect(list.body).toMatchObject({ total: { count: 3, capped: false } })
    expect(list.body.items).toHaveLength(2)
    const rest = await ask('GET', `/api/v1/runs?limit=2&after=${list.body.next}`)
    expect(rest.body).toMatchObject({ next: null })
    expect(rest.body.items).toHaveLength(1)
    const attempts = await ask('GET', `/api/v1/runs/${ids.failed}/attempts`)
    expect(attempts.body.items.at(-1)).toMatchObject({ end: 'failed', error: { message: 'no luck' } })
    const dry = await ask('POST', `/api/v1/runs/${ids.failed}/retry`, { body: { dryRun: true } })
    expect(dry.body).toMatchObject({ state: 'failed' })
    const retried = await ask('POST', `/api/v1/runs/${ids.failed}/retry`, { body: { reason: 'again' } })
    // A worker may have claimed it immediately.
    expect(retried.body).toMatchObject({
      id: ids.failed,
      state: expect.stringMatching(/^(pending|running)$/),
    })
    const refused = await ask('POST', `/api/v1/runs/${ids.done}/cancel`, { body: {} })
    expect(refused).toMatchObject({ status: 409, body: { code: 'RUN_STATE' } })
    const cancelled = await ask('POST', `/api/v1/runs/${ids.pending}/cancel`, {
      body: { reason: 'not needed' },
    })
    expect(cancelled.body).toMatchObject({
      requested: false,
      run: { state: 'cancelled', reason: 'not needed' },
    })
  })

  it('advance a waiting run, and refuse any other with its state', async () => {
    const { ask, ids, app } = await stage()
    const advance = (id: string, body: object) => ask('POST', `/api/v1/runs/${id}/advance`, { body })
    expect((await advance(ids.pending, { dryRun: true })).body).toMatchObject({ state: 'pending' })
    expect((await app.runs.get(ids.pending)).runAt).toBeGreaterThan(app.now())
    expect((await advance(ids.pending, { reason: 'needed now' })).status).toBe(200)
    expect(await app.runs.wait(ids.pending)).toMatchObject({ state: 'done' })
    const refused = await advance(ids.failed, {})
    expect(refused).toMatchObject({ status: 409, body: { code: 'RUN_STATE' } })
    expect(refused.body['detail']).toContain('is failed')
  })

  it('change an added trigger, and return which instants appear and vanish', async () => {
    const { ask, app } = await stage()
    const patch = (body: object, headers = {}) => ask('PATCH', '/api/v1/triggers/hourly', { body, headers })
    const dry = await patch({ options: { every: '30m' }, days: 1, dryRun: true })
    expect(dry.body).toMatchObject({
      trigger: { schedule: { everyMs: 3_600_000 } },
      vanish: [],
      capped: false,
    })
    expect(dry.body['appear']).toHaveLength(24)
    // Like `rota diff`: the instants, the load of all triggers, and the instants that are already due.
    const { before, after } = dry.body['load'] as unknown as {
      before: { instants: number }
      after: { instants: number }
    }
    expect(after.instants - before.instants).toBe(24)
    expect(dry.body).toMatchObject({ moved: [], atOnce: null })
    expect((await app.triggers.get('hourly')).version).toBe(1)
    const tag = String((await ask('GET', '/api/v1/triggers/hourly')).body['tag'])
    expect((await patch({ options: { every: '30m' } }, { 'if-match': '"9-9"' })).status).toBe(412)
    const changed = await patch({ options: { every: '30m', overlap: 'allow' } }, { 'if-match': `"${tag}"` })
    expect(changed.body).toMatchObject({
      trigger: { version: 2, overlap: 'allow', schedule: { everyMs: 1_800_000 } },
    })
    const only = await patch({ options: { catchUp: 'skip' } })
    expect(only.body).toMatchObject({
      trigger: { overlap: 'allow', schedule: { everyMs: 1_800_000 }, catchUp: { mode: 'skip' } },
      appear: [],
      vanish: [],
    })
    const rules = {
      pauseAfter: 3,
      alerts: false,
      sla: { startedWithin: '1m' },
      ping: 'https://example.org/x',
    }
    expect((await patch({ options: rules })).status).toBe(200)
    expect((await app.triggers.get('hourly')).trigger).toMatchObject({
      ...rules,
      sla: { startedWithinMs: 60_000 },
    })
  })

  it('read another expression of a trigger in its own zone', async () => {
    const { ask, app } = await stage()
    await app.triggers.add({ berlin: { job: 'greet', cron: '0 2 * * *', timezone: 'Europe/Berlin' } })
    const body = { options: { cron: '0 3 * * *' } }
    const changed = await ask('PATCH', '/api/v1/triggers/berlin', { body })
    expect(changed.body).toMatchObject({
      trigger: { schedule: { expression: '0 3 * * *', timezone: 'Europe/Berlin' } },
    })
    const moved = changed.body['moved'] as unknown as { from: string; to: string }[]
    // All except the days on which clocks change.
    const byAnHour = moved.filter(({ from, to }) => Date.parse(to) - Date.parse(from) === 3_600_000)
    expect(byAnHour.length).toBeGreaterThan(25)
  })

  it('compare schedules that are due every second without end', async () => {
    const { ask } = await stage()
    const options = { cron: '* * * * * *' }
    const { body } = await ask('PATCH', '/api/v1/triggers/hourly', {
      body: { options, days: 366, dryRun: true },
    })
    expect(body).toMatchObject({ capped: true })
    expect(body['appear']).toHaveLength(500)
  })

  it('list the runs of a filter in both directions, and group their errors', async () => {
    const { ask, ids } = await stage()
    const found = async (query: string): Promise<string[]> =>
      (await ask('GET', `/api/v1/runs?${query}`)).body.items.map(({ id }: { id: string }) => id)
    expect(await found('q=state:failed%20luck')).toEqual([ids.failed])
    expect(await found('state=failed,done&message=LUCK')).toEqual([ids.failed])
    expect(await found('q=job:greet&state=pending')).toEqual([ids.pending])
    expect(await found('job=nobody')).toEqual([])
    const first = await ask('GET', '/api/v1/runs?limit=1&q=job:greet')
    expect(first.body).toMatchObject({ previous: null, total: { count: 3, capped: false } })
    const second = await ask('GET', `/api/v1/runs?limit=1&q=job:greet&after=${first.body.next}`)
    const back = await ask('GET', `/api/v1/runs?limit=1&q=job:greet&before=${second.body.previous}`)
    expect(back.body).toMatchObject({ items: first.body.items, previous: null, next: first.body.next })
    const errors = await ask('GET', '/api/v1/runs/errors')
    expect(errors.body).toMatchObject({
      items: [{ shape: 'no luck', count: 1, jobs: ['greet'], example: { id: ids.failed } }],
      runs: { count: 1, capped: false },
    })
  })

  it('refuse a filter with the place of every fault', async () => {
    const { ask } = await stage()
    const refused = await ask('GET', '/api/v1/runs?q=job:greet%20sate:failed&origin=elsewhere')
    expect(refused).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } })
    expect(refused.body.errors).toMatchObject([
      { detail: expect.stringMatching(/"elsewhere" is not one of the values/) as string },
      { detail: expect.stringMatching(/character 11: "sate" is not a name/) as string },
    ])
  })

  it('pause a trigger with the caller as the actor', async () => {
    const { ask, token, app } = await stage()
    const path = '/api/v1/triggers/nightly/pause'
    const paused = await ask('POST', path, { body: { reason: 'upgrade' }, token: await token('operate') })
    expect(paused).toMatchObject({ status: 200, body: { changed: true } })
    const [hold] = await (await app.store()).holds({ openAt: app.now() })
    expect(hold).toMatchObject({ target: 'trigger:nightly', actor: 'operate', note: 'upgrade' })
    expect((await ask('GET', '/api/v1/triggers?state=paused')).body.items).toMatchObject([
      { name: 'nightly', state: 'paused' },
    ])
    expect((await ask('POST', '/api/v1/triggers/nobody/pause', { body: {} })).status).toBe(404)
  })

  it.each([
    ['GET', '/why?trigger=nightly&from=yesterday', undefined, 'REQUEST_INVALID'],
    ['GET', '/why?trigger=nobody&from=2026-01-01T00:00:00Z', undefined, 'TRIGGER_UNKNOWN'],
    ['POST', '/preview', { expression: '99 * * * *' }, 'CRON_RANGE'],
    ['POST', '/preview', { expression: '1--100000000 * * * *' }, 'CRON_SYNTAX'],
    ['POST', '/preview', { expression: '* * * * *', timezone: 'Mars/Base' }, 'ZONE_UNKNOWN'],
    ['POST', '/preview', { expression: '* * * * *', count: 1e9 }, 'REQUEST_INVALID'],
    ['POST', '/triggers', { triggers: { x: { job: 'greet', cron: '* * *' } } }, 'DEFINITION_INVALID'],
    ['POST', '/triggers', { triggers: { nightly: { job: 'greet', every: '1h' } } }, 'DEFINITION_CONFLICT'],
    ['POST', '/runs', { job: 'nobody' }, 'JOB_UNKNOWN'],
    ['POST', '/runs', { job: 'greet', delay: 'soon' }, 'DEFINITION_INVALID'],
    ['POST', '/runs', { job: 'greet', payload: 'x'.repeat(300_000) }, 'PAYLOAD_TOO_LARGE'],
    ['POST', '/queues/nobody/pause', {}, 'DEFINITION_INVALID'],
    ['POST', '/workers/nobody/drain', {}, 'WORKER_UNKNOWN'],
    ['POST', '/freeze', { until: '2020-01-01T00:00:00Z' }, 'DEFINITION_INVALID'],
    ['PATCH', '/triggers/nightly', { options: { cron: '0 3 * * *' } }, 'DEFINITION_CONFLICT'],
    ['PATCH', '/triggers/hourlie', { options: { every: '1h' } }, 'TRIGGER_UNKNOWN'],
    ['PATCH', '/triggers/hourly', { options: { evry: '1h' } }, 'DEFINITION_INVALID'],
    ['PATCH', '/triggers/hourly', { options: { every: '1h', cron: '0 3 * * *' } }, 'DEFINITION_INVALID'],
    ['PATCH', '/triggers/hourly', { options: { job: 'gret' } }, 'JOB_UNKNOWN'],
    ['GET', '/triggers/nightly/next?zone=Mars/Base', undefined, 'ZONE_UNKNOWN'],
    ['GET', '/triggers/nightlie/coverage', undefined, 'TRIGGER_UNKNOWN'],
    ['GET', '/triggers?after=nonsense', undefined, 'REQUEST_INVALID'],
    ['GET', '/runs/abcd', undefined, 'RUN_UNKNOWN'],
  ])('%s %s refuses bad input %#', async (method, path, body, code) => {
    const { ask } = await stage()
    const refused = await ask(method, `/api/v1${path}`, { body })
    expect(refused.body).toMatchObject({ code })
    expect(refused.status).toBeLessThan(500)
  })

  it('are all on the reference page, which has no scripts and loads nothing', async () => {
    const { ask } = await stage()
    const { response, headers } = await ask('GET', '/api/v1/docs')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const page = await response.text()
    for (const { method, path } of routes.filter(({ isPrivate }) => isPrivate !== true)) {
      expect(page).toContain(`<h3>${method} ${path}</h3>`)
    }
    expect(page).not.toMatch(/<script|javascript:|\son\w+=|https?:/i)
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    )
  })

  it('stream the log of a run until it is final', async () => {
    const { ask, ids } = await stage()
    const { response } = await ask('GET', `/api/v1/runs/${ids.done}/logs?follow=true`)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    expect(await response.text()).toBe('')
  })
})

describe('access', () => {
  it.each([...roles, 'nobody'] as const)('%s may use the routes of its role and no others', async (who) => {
    const { ask, token, examples } = await stage({ isLoopback: false })
    const given = who === 'nobody' ? {} : { token: await token(who) }
    for (const one of routes.filter(({ path }) => path !== '/stream')) {
      const { status } = await ask(one.method, addressOf(one, examples), {
        ...given,
        body: filled(bodyOf(one), examples),
      })
      const isAllowed = includesRole(who === 'nobody' ? 'none' : who, one.role)
      const refused = who === 'nobody' ? 401 : 403
      const isRefused = status === refused
      expect({ route: `${one.method} ${one.path}`, isRefused }).toEqual({
        route: `${one.method} ${one.path}`,
        isRefused: !isAllowed,
      })
      expect(status).toBeLessThan(500)
    }
  })

  it.each([
    ['a foreign name for this machine', { host: 'evil.example' }],
    ['a name that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['no host at all', { host: '' }],
  ])('on this machine, a request with %s is refused', async (_, headers) => {
    const { ask } = await stage()
    expect(await ask('GET', '/api/v1/runs', { headers })).toMatchObject({
      status: 403,
      body: { code: 'HOST_REFUSED' },
    })
  })

  it('on this machine, a request through a proxy needs a token', async () => {
    const { ask } = await stage()
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    expect((await ask('GET', '/api/v1/runs', { headers })).status).toBe(401)
  })
})

function keyOf({ method, path }: Route<App>): string {
  return `${method} ${path}`
}

/** A body that changes nothing. */
function bodyOf({ method, example }: Route<App>): unknown {
  if (method === 'GET') return undefined
  return example?.body ?? { dryRun: true }
}
