import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rota } from '../src/index.js'
import { createToken, revokeToken } from '../src/server/access/tokens.js'
import { problemAnswer } from '../src/server/answer.js'
import { allRoutes } from '../src/app/serve/served.js'
import { openPostgresStore } from '../src/store/postgres/postgres-store.js'
import { systemClock } from '../src/time/clock.js'
import { addressOf, serveApp } from './fixtures/api-stage.js'
import { readerOf, readersOf } from './fixtures/children.js'
import { PostgresServer } from './fixtures/postgres.js'
import { PostgresStores } from './fixtures/postgres-store.js'
import { readRotaOptions } from '../src/app/rota-options.js'
import { composeApp } from '../src/app/rota.js'

let server: PostgresServer
let stores: PostgresStores
let directory: string

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
  directory = mkdtempSync(join(tmpdir(), 'rota-reader-'))
})

afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true })
})

/** Answers that depend on the current time. */
const momentary = new Set([
  '/stream',
  '/ui/now',
  '/ui/series',
  '/ui/timeline',
  '/coverage',
  '/coverage/days',
  '/doctor',
])

describe.each(['sqlite', 'postgres'] as const)('a process that reads %s', (kind) => {
  const urlOf = (name: string): string =>
    kind === 'sqlite' ? `sqlite:${join(directory, `${name}.db`)}` : stores.fresh()

  it('counts the requests of a caller', async () => {
    const app = rota({ store: urlOf('rate'), directory })
    onTestFinished(() => app.close())
    await expect(app.listen({ port: 0, requestsPerSecond: 0 })).rejects.toThrow(
      'requestsPerSecond: 0 is not allowed (allowed: a whole number from 1 to 1000000)',
    )
    const { port } = await app.listen({ port: 0, requestsPerSecond: 1 })
    const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    const all = await Promise.all(Array.from({ length: 9 }, () => read('/api/v1/pulse')))
    expect(new Set(all)).toEqual(new Set([200, 429]))
    expect(await read('/health/live')).toBe(200)
  })

  it('answers every read as the app itself does, and passes changes on', async () => {
    const parts = composeApp(readRotaOptions({ store: urlOf('same'), directory }), 'code:test')
    const { app } = parts
    onTestFinished(() => app.close())
    app.job('greet', () => 'hello')
    app.schedule('nightly', { job: 'greet', cron: '0 2 * * *', timezone: 'Europe/Berlin' })
    await app.start({ roles: { scheduler: true, worker: false } })
    const waiting = await app.enqueue('greet', { name: 'Ann' }, { delay: '1h' })
    await app.triggers.pause('nightly', { reason: 'test' })
    const { port } = await app.listen({ port: 0 })
    const url = `http://127.0.0.1:${port}`
    const { ask } = await serveApp(parts)
    const examples = { '20260105t0900': waiting.id, '20260105t0800': waiting.id, '20260105t1000': waiting.id }
    const reads = (await allRoutes({ isMounted: false })).filter(
      ({ method, isStream }) => method === 'GET' && isStream !== true,
    )
    expect(reads.length).toBeGreaterThan(40)
    for (const route of reads) {
      const path = addressOf(route, examples)
      const response = await fetch(`${url}${path}`)
      const isJson = response.headers.get('content-type')?.endsWith('json') === true
      const found = { status: response.status, body: isJson ? await response.json() : undefined }
      const { status, body } = await ask('GET', path)
      const expected = momentary.has(route.path) ? found.body : body
      expect({ path, ...found }).toEqual({ path, status, body: expected })
    }
    // The app makes a change, and the next read sees it.
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ reason: 'not needed' })
    const cancelled = await fetch(`${url}/api/v1/runs/${waiting.id}/cancel`, {
      method: 'POST',
      headers,
      body,
    })
    expect(cancelled.status).toBe(200)
    const [change] = await app.history({ limit: 1 })
    expect(change).toMatchObject({ actor: 'local', via: 'api', reason: 'not needed' })
    const after = await fetch(`${url}/api/v1/runs/${waiting.id}`)
    expect(await after.json()).toMatchObject({ state: 'cancelled' })
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    for (const name of ['rota_runs', 'rota_attempts_started_total', 'nodejs_eventloop_lag_seconds']) {
      expect(metrics.split(`# TYPE ${name} `)).toHaveLength(2)
    }
  })

  it('says everything that was committed when it was asked, while many ask the same', async () => {
    const app = rota({ store: urlOf('many') })
    onTestFinished(() => app.close())
    app.job('greet', () => 'hello')
    const { port } = await app.listen({ port: 0 })
    const { token, id: tokenId } = await createToken(await app.store(), {
      name: 'ann',
      role: 'read',
      expiresAt: undefined,
      now: app.now().getTime(),
    })
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/api/v1/runs?limit=100`, {
        headers: { authorization: `Bearer ${token}` },
      })
    const read = async (): Promise<readonly { id: string }[]> =>
      ((await (await ask()).json()) as { items: { id: string }[] }).items
    const over = new AbortController()
    const others = Array.from({ length: 4 }, async () => {
      let answers = 0
      for (; !over.signal.aborted; answers += 1) await read()
      return answers
    })
    for (let i = 0; i < 25; i += 1) {
      const { id } = await app.enqueue('greet', {}, { delay: '1h' })
      const found = await read()
      expect(found.map((run) => run.id)).toContain(id)
      expect(found).toHaveLength(i + 1)
    }
    over.abort()
    for (const answers of await Promise.all(others)) expect(answers).toBeGreaterThan(0)
    await revokeToken(await app.store(), { id: tokenId, now: app.now().getTime() })
    expect((await ask()).status).toBe(401)
  })
})

it('a slow query does not block the event loop of the program, and a stop waits for its answer', async () => {
  const path = join(directory, 'big.db')
  const app = rota({ store: `sqlite:${path}` })
  app.job('work', () => undefined)
  const handler = app.handler({ authorize: () => ({ actor: 'ann', role: 'read' }) })
  const ask = (address: string): Promise<Response> =>
    handler(new Request(`http://127.0.0.1/ops/api/v1${address}`))
  await app.start({ roles: { scheduler: true, worker: false } })
  expect((await ask('/runs')).status).toBe(200)
  const stream = (await ask('/stream')).body?.getReader()
  expect(new TextDecoder().decode((await stream?.read())?.value)).toContain('event: hello')
  await stream?.cancel()
  fill(path, 300_000)
  let turns = 0
  const over = new AbortController()
  const counting = (async () => {
    for (; !over.signal.aborted; turns += 1) await turn()
  })()
  // No run has this error, and there is no index for it, so all runs are read.
  const found = await ask('/runs?q=error:nobody')
  over.abort()
  await counting
  expect(await found.json()).toMatchObject({ items: [], total: { count: 0 } })
  expect(turns).toBeGreaterThan(100)
  const last = ask('/runs?q=error:nothing')
  await turn()
  const stopped = app.stop({ grace: 0 })
  expect((await last).status).toBe(200)
  await stopped
  expect((await ask('/runs')).status).toBe(503)
})

describe('a process that dies', () => {
  it('is replaced on the same port, and the scheduler is not affected', async () => {
    const app = rota({ store: `sqlite:${join(directory, 'dies.db')}` })
    onTestFinished(() => app.close())
    app.cron('often', '* * * * * *', () => undefined)
    const { port } = await app.listen({ port: 0 })
    await app.start()
    const url = `http://127.0.0.1:${port}/api/v1/runs`
    expect((await fetch(url)).status).toBe(200)
    const stream = await fetch(`http://127.0.0.1:${port}/api/v1/stream`)
    const ended = expect(stream.text()).rejects.toThrow('terminated')
    const trouble = new Promise((resolve) => app.on('trouble', ({ error }) => resolve(error)))
    const first = await readerOf(process.pid)
    process.kill(first, 'SIGKILL')
    await ended
    expect(await trouble).toMatchObject({ message: 'the process that answers reads has ended (SIGKILL)' })
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), {
      timeout: 10_000,
      interval: 50,
    })
    expect(await readersOf(process.pid)).not.toContain(first)
    const before = await app.runs.list({ state: 'done' })
    await vi.waitFor(
      async () => expect((await app.runs.list({ state: 'done' })).length).toBeGreaterThan(before.length),
      {
        timeout: 5000,
      },
    )
    expect(await app.coverage({ trigger: 'often' })).toMatchObject([{ unexplainedCount: 0 }])
  })

  it('causes an answer for each request of a mounted handler, and the next request starts another process', async () => {
    const path = join(directory, 'dies-mounted.db')
    const app = rota({ store: `sqlite:${path}` })
    onTestFinished(() => app.close())
    const handler = app.handler({ authorize: () => ({ actor: 'ann', role: 'read' }) })
    const ask = (address: string): Promise<Response> =>
      handler(new Request(`http://127.0.0.1/ops/api/v1${address}`))
    expect((await ask('/runs')).status).toBe(200)
    const reader = await readerOf(process.pid)
    process.kill(reader, 'SIGSTOP')
    const answers = Array.from({ length: 20 }, () => ask('/runs?q=error:nobody'))
    await turn()
    process.kill(reader, 'SIGKILL')
    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status))
    expect([...statuses]).toEqual([503])
    expect((await ask('/runs')).status).toBe(200)
    expect(await readersOf(process.pid)).toHaveLength(1)
  })
})

it('what the process counts is stored by the app', async () => {
  const app = rota({ store: `sqlite:${join(directory, 'kept.db')}` })
  onTestFinished(() => app.close())
  app.cron('often', '* * * * *', () => undefined)
  await app.start({ roles: { scheduler: true, worker: false } })
  const { port } = await app.listen({ port: 0 })
  const store = await app.store()
  await fetch(`http://127.0.0.1:${port}/api/v1/coverage/days?trigger=often&days=3`)
  const kept = () => store.stateEntries({ kind: 'coverage', items: ['often'], limit: 9 })
  await vi.waitFor(async () => expect(await kept()).not.toEqual([]))
})

it('a query that takes Postgres too long is refused with advice', async () => {
  const url = stores.fresh()
  const store = await openPostgresStore({ url, clock: systemClock })
  const reader = await openPostgresStore({ url, clock: systemClock, create: false, readerMs: 200 })
  onTestFinished(async () => {
    await reader.close()
    await store.close()
  })
  await stores.client.query('begin')
  await stores.client.query(
    `lock table ${new URL(url).searchParams.get('schema')}.runs in access exclusive mode`,
  )
  const refused = await reader.counts().catch((error: unknown) => error)
  await stores.client.query('rollback')
  const { status, body } = problemAnswer(refused)
  expect({ status, ...JSON.parse(body) }).toMatchObject({
    status: 503,
    code: 'READ_TOO_LONG',
    detail: expect.stringContaining('request less'),
  })
  expect(await reader.counts()).toMatchObject({ pending: 0 })
})

/** Inserts runs with SQL, because nothing else is fast enough. */
function fill(path: string, runs: number): void {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  db.exec(`begin; with recursive n(i) as (select 0 union all select i + 1 from n where i < ${runs} - 1)
    insert into runs (id, job, state, priority, run_at, due_at, attempt, created_at, finished_at, origin)
    select strftime('%Y%m%dT%H%M%SZ', i, 'unixepoch') || printf('_%016x', i), 'work', 5, 0, i * 1000, i * 1000, 1,
      i * 1000, i * 1000, 1 from n; commit`)
  db.close()
}
