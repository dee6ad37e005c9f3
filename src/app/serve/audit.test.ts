import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkChanges, isChange, type Ask } from '../../../test/fixtures/api-stage.js'
import { root } from '../../../test/repository.js'
import { findFeatures } from '../../features/find-features.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { SignInAttempts } from '../../server/access/attempts.js'
import { createToken } from '../../server/access/tokens.js'
import { accessRoutes } from '../../server/routes/access.js'
import { pulseText, readPulse, topicsBetween } from '../../server/stream/pulse-text.js'
import type { Pulse } from '../../store/overview.js'
import { composeApp } from '../rota.js'
import { readRotaOptions } from '../rota-options.js'
import { coreRoutes } from '../routes/index.js'
import { allRoutes, serve } from './served.js'

/** A served app with a trigger, a failed and a delayed run; nothing is performed. */
async function stage() {
  const store = `sqlite:${join(mkdtempSync(join(tmpdir(), 'rota-audit-')), 'rota.db')}`
  // A reload is requested, and refused.
  const readAgain = () => Promise.reject(new RotaError('CONFIG_INVALID', 'it is gone'))
  const parts = composeApp(readRotaOptions({ store }), 'code:test', { readAgain })
  const { app } = parts
  onTestFinished(() => app.close())
  app.job('greet', () => 'hello')
  app.schedule('nightly', { job: 'greet', cron: '0 2 * * *' })
  await app.start({ roles: { worker: false } })
  await app.jobs.add({ extra: { command: ['true'] } })
  await app.triggers.add({ added: { job: 'greet', every: '1h' } })
  const cancelled = await app.enqueue('greet', 'x')
  await app.runs.cancel(cancelled.id)
  const delayed = await app.enqueue('greet', 'x', { delay: '1h' })
  const days = { from: '2026-01-01T00:00:00Z', to: '2026-01-05T00:00:00Z', definition: 'current' } as const
  const { backfill } = await app.triggers.backfill('nightly', days)
  const served = await serve(parts, { isLoopback: false, checkAnswers: true })
  onTestFinished(() => served.close())
  const now = app.now()
  const { token, id } = await createToken(await app.store(), {
    name: 'ann',
    role: 'admin',
    expiresAt: undefined,
    now,
  })
  const send = async (method: string, path: string, body?: unknown, headers: object = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = new Request(`http://127.0.0.1:7070/api/v1${path}`, {
      method,
      headers: { host: '127.0.0.1:7070', authorization: `Bearer ${token}`, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const response = await served.fetch(request, { peer: '127.0.0.1' })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as never }
  }
  return {
    app,
    send,
    ids: { cancelled: cancelled.id, delayed: delayed.id, token: id, backfill: backfill?.id ?? '' },
  }
}

describe('a change through the API', () => {
  it('is audited with who and why, and changes nothing as a dry run', async () => {
    const { app, send, ids } = await stage()
    const register = { id: 'w', host: 'h', pid: 1, version: '0', slots: 1, now: app.now(), leaseMs: 60_000 }
    await (await app.store()).register(register)
    const own = [...coreRoutes, ...accessRoutes(new SignInAttempts())]
    const ask: Ask = async (method, path, { body } = {}) =>
      (await send(method, path.replace('/api/v1', ''), body)) as never
    const job = 'greet'
    await checkChanges({ app, ask }, own, {
      'POST /runs': { path: '/runs', body: { job }, action: 'run.enqueue' },
      'POST /runs/{id}/advance': { path: `/runs/${ids.delayed}/advance`, action: 'run.advance' },
      'POST /runs/{id}/cancel': { path: `/runs/${ids.delayed}/cancel`, action: 'run.cancel' },
      'POST /runs/{id}/retry': { path: `/runs/${ids.cancelled}/retry`, action: 'run.retry' },
      'POST /triggers': {
        path: '/triggers',
        body: { triggers: { hourly: { job, every: '1h' } } },
        action: 'trigger.define',
      },
      'DELETE /triggers/{name}': { path: '/triggers/added', action: 'trigger.remove' },
      'PATCH /triggers/{name}': {
        path: '/triggers/hourly',
        body: { options: { every: '2h' } },
        action: 'trigger.define',
      },
      'POST /triggers/{name}/run': { path: '/triggers/nightly/run', action: 'trigger.run' },
      'POST /triggers/{name}/backfills': {
        path: '/triggers/nightly/backfills',
        body: { from: '2026-01-01T00:00:00Z', to: '2026-01-05T00:00:00Z', definition: 'current' },
        action: 'backfill.plan',
      },
      'POST /backfills/{id}/start': { path: `/backfills/${ids.backfill}/start`, action: 'backfill.start' },
      'POST /backfills/{id}/cancel': { path: `/backfills/${ids.backfill}/cancel`, action: 'backfill.cancel' },
      'POST /triggers/{name}/pause': { path: '/triggers/nightly/pause', action: 'trigger.pause' },
      'POST /triggers/{name}/resume': { path: '/triggers/nightly/resume', action: 'trigger.resume' },
      'POST /jobs': { path: '/jobs', body: { jobs: { more: { command: ['true'] } } }, action: 'job.define' },
      'DELETE /jobs/{name}': { path: '/jobs/extra', action: 'job.remove' },
      'POST /queues/{name}/pause': { path: '/queues/default/pause', action: 'queue.pause' },
      'POST /queues/{name}/resume': { path: '/queues/default/resume', action: 'queue.resume' },
      'POST /freeze': { path: '/freeze', action: 'freeze' },
      'POST /thaw': { path: '/thaw', action: 'thaw' },
      'POST /switches/{name}': { path: '/switches/worker', body: { isOn: false }, action: 'switch.off' },
      'POST /workers/{target}/drain': { path: '/workers/w/drain', action: 'worker.drain' },
      'POST /workers/{target}/undrain': { path: '/workers/w/undrain', action: 'worker.undrain' },
      'POST /reload': { path: '/reload', action: 'reload' },
      'POST /tokens': { path: '/tokens', body: { name: 'ci', role: 'read' }, action: 'token.create' },
      'DELETE /tokens/{id}': { path: `/tokens/${ids.token}`, action: 'token.revoke' },
    })
    const actors = (await app.history({ limit: 100 })).flatMap(({ via, actor }) =>
      via === 'api' ? [actor] : [],
    )
    expect(new Set(actors)).toEqual(new Set(['ann']))
  })

  it('accepts a reason and a dry run on every route, also on those of features', async () => {
    const routes = (await allRoutes({ isMounted: false })).filter(
      ({ method, isPrivate }) => method !== 'GET' && isPrivate !== true,
    )
    const changing = routes.filter(isChange)
    expect(changing.filter(({ body }) => body?.shape['reason'] === undefined)).toEqual([])
    // These change nothing in the store, or only the session of the caller.
    const others = routes.filter((one) => !isChange(one)).map(({ method, path }) => `${method} ${path}`)
    const known = ['/preview', '/session', '/sensors/{name}/preview', '/backfills/plan']
    expect(others.filter((name) => !known.includes(name.split(' ')[1] ?? ''))).toEqual([])
    const features = findFeatures()
    for (const feature of features) {
      if (!('routes' in feature) || !(await feature.routes()).some(isChange)) continue
      const test = join(root, 'src/features', feature.name, 'test/routes.test.ts')
      expect(readFileSync(test, 'utf8')).toContain('await checkChanges(')
    }
  })

  it('is listed in pages, without dry runs and refused changes', async () => {
    const { app, send, ids } = await stage()
    const before = await app.history()
    await send('POST', '/freeze', { dryRun: true })
    await send('POST', `/runs/${ids.delayed}/retry`, {})
    await send('POST', '/triggers/nobody/pause', {})
    expect(await app.history()).toEqual(before)
    await send('POST', '/triggers/nightly/pause', { reason: 'one' })
    await send('POST', '/triggers/nightly/resume', { reason: 'two' })
    const first = await send('GET', '/audit?target=trigger:nightly&limit=1')
    expect(first.body).toMatchObject({ items: [{ action: 'trigger.resume', reason: 'two', after: null }] })
    const { next } = first.body as { next: string }
    const second = await send('GET', `/audit?target=trigger:nightly&limit=1&after=${next}`)
    expect(second.body).toMatchObject({
      items: [{ action: 'trigger.pause', after: { by: 'ann', reason: 'one' } }],
    })
    const history = await send('GET', '/triggers/nightly/history')
    const actions = (history.body as { items: { action: string }[] }).items.map(({ action }) => action)
    expect(actions).toEqual(['trigger.resume', 'trigger.pause', 'backfill.plan', 'trigger.define'])
    expect((await send('GET', '/audit?after=nonsense')).status).toBe(422)
  })
})

describe('If-Match', () => {
  it('of a trigger is accepted only if the trigger has not changed since it was read', async () => {
    const { send } = await stage()
    const read = await send('GET', '/triggers/nightly')
    const etag = read.headers.get('etag') as string
    expect(etag).toBe('"1-0"')
    const pause = (tag: string, body = {}) =>
      send('POST', '/triggers/nightly/pause', body, { 'if-match': tag })
    expect((await pause('"1-7"', { dryRun: true })).status).toBe(412)
    expect((await pause(etag)).body).toEqual({ changed: true })
    expect(await pause(etag)).toMatchObject({ status: 412, body: { code: 'REVISION_CHANGED' } })
    expect((await pause('12')).status).toBe(400)
    const other = await send('POST', '/freeze', {}, { 'if-match': etag })
    expect(other).toMatchObject({ status: 400, body: { code: 'REQUEST_MALFORMED' } })
  })
})

describe('Idempotency-Key', () => {
  const key = { 'idempotency-key': '"abc-1"' }

  it('answers a repeated request again, and performs it once', async () => {
    const { app, send } = await stage()
    const first = await send('POST', '/runs', { job: 'greet' }, key)
    const again = await send('POST', '/runs', { job: 'greet' }, key)
    expect(first.status).toBe(201)
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await app.history({ action: 'run.enqueue' })).toHaveLength(1)
    const other = await send('POST', '/runs', { job: 'greet', payload: 1 }, key)
    expect(other).toMatchObject({ status: 422, body: { code: 'KEY_REUSED' } })
    expect((await send('POST', '/freeze', {}, { 'idempotency-key': '' })).status).toBe(400)
  })

  it('can be used again after a refusal', async () => {
    const { send, ids } = await stage()
    expect((await send('POST', `/runs/${ids.delayed}/retry`, {}, key)).status).toBe(409)
    await send('POST', `/runs/${ids.delayed}/cancel`, {})
    expect((await send('POST', `/runs/${ids.delayed}/retry`, {}, key)).status).toBe(200)
  })

  it('of two requests at the same time performs one', async () => {
    const { app, send } = await stage()
    const answers = await Promise.all([1, 2].map(() => send('POST', '/runs', { job: 'greet' }, key)))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses[0]).toBe(201)
    expect([201, 409]).toContain(statuses[1])
    expect(await app.history({ action: 'run.enqueue' })).toHaveLength(1)
  })

  it('reports that the change was made if its answer is lost', async () => {
    const { app, send } = await stage()
    await send('POST', '/freeze', {}, key)
    const store = await app.store()
    const [entry] = await store.stateEntries({ kind: 'request', limit: 1 })
    const value = { ...(entry?.value as object), step: 'changed', at: app.now() - 120_000 }
    const place = { kind: 'request', name: entry?.name ?? '', item: '' } as const
    await store.changeState({ changes: [{ ...place, value }], now: app.now() })
    expect(await send('POST', '/freeze', {}, key)).toMatchObject({
      status: 409,
      body: { code: 'ANSWER_LOST', changed: [{ action: 'freeze', target: 'all', subjects: ['all'] }] },
    })
    const running = { ...value, step: 'running' }
    await store.changeState({ changes: [{ ...place, value: running }], now: app.now() })
    expect((await send('POST', '/freeze', {}, key)).status).toBe(200)
  })

  it('stores no secret', async () => {
    const { app, send } = await stage()
    const made = await send('POST', '/tokens', { name: 'ci', role: 'read' }, key)
    const { token } = made.body as { token: string }
    expect(token).toMatch(/^rota_/)
    const { facts } = await (await app.store()).facts({ limit: 100_000 })
    const entries = await (await app.store()).stateEntries({ kind: 'request', limit: 9 })
    expect(JSON.stringify([facts, entries, await app.history()])).not.toContain(token)
    expect((await send('POST', '/tokens', { name: 'ci', role: 'read' }, key)).status).toBe(409)
  })
})

it('the stream reports an added trigger immediately', async () => {
  const { app, send } = await stage()
  const store = await app.store()
  const before = await store.pulse()
  await app.triggers.add({ more: { job: 'greet', every: '1h' } })
  const after = await store.pulse()
  expect([...topicsBetween(before, after)]).toContain('triggers')
  await send('DELETE', '/triggers/more', {})
  expect([...topicsBetween(after, await store.pulse())]).toContain('triggers')
})

it('the stream reports a retried run immediately', async () => {
  const { app, send, ids } = await stage()
  const store = await app.store()
  const before = await store.pulse()
  await send('POST', `/runs/${ids.cancelled}/retry`, {})
  const after = await store.pulse()
  expect([...topicsBetween(before, after)]).toEqual(expect.arrayContaining(['audit', 'runs']))
  expect(readPulse(pulseText(after))).toMatchObject({ audit: after.audit } satisfies Partial<Pulse>)
})
