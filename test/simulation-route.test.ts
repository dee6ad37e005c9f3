import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { App } from '../src/app/rota.js'
import { simulateInThread } from '../src/app/simulate/in-thread.js'
import { simulation } from '../src/wire/simulation.js'
import { serveApp, testApp } from './fixtures/api-stage.js'

const path = '/api/v1/simulation'

/** A simulation that takes very long. */
const long = `${path}?days=366&processes=20&crash=1m&progress=true`

async function stage(define: (app: App) => void = twoTriggers) {
  const parts = testApp()
  define(parts.app)
  await parts.app.start({ roles: { scheduler: true, worker: false } })
  return { app: parts.app, ...(await serveApp(parts)), parts }
}

function twoTriggers(app: App): void {
  app.cron('hourly', '0 * * * *', () => undefined)
  app.schedule('often', { job: 'hourly', every: '1m' })
}

it('returns the result of `app.simulate`, and writes nothing', async () => {
  const { ask, app } = await stage()
  const { status, body } = await ask('GET', `${path}?days=2&unknown=90s&concurrency=3`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ processes: 1, concurrency: 3, triggerCount: 2, spanMs: 3_600_000 })
  const { runs, fromAt } = await app.simulate({ duration: '2d', unknown: '90s', concurrency: 3 })
  // Time passes between the two: at most one more minute is due.
  expect(Math.abs(Number(body['runs']) - runs)).toBeLessThanOrEqual(2)
  expect(Date.parse(body['fromAt'] as unknown as string)).toBeLessThanOrEqual(fromAt)
  expect(await app.runs.list({})).toEqual([])
})

it('streams its progress, one object per line, and the result at the end', async () => {
  const { parts } = await stage()
  const handler = parts.app.handler({ authorize: () => ({ actor: 'ann', role: 'operate' }) })
  onTestFinished(() => handler.close())
  const response = await handler(new Request(`http://127.0.0.1${path}?days=30&progress=true`))
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { progress?: number; result?: object })
  const shares = lines.flatMap(({ progress }) => progress ?? [])
  expect(shares[0]).toBe(0)
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  expect(simulation.parse(lines.at(-1)?.result).runs).toBeGreaterThan(30 * 24 * 60)
})

it.each([
  'days=0',
  'days=367',
  'days=1.5',
  'days=week',
  'processes=0',
  'processes=101',
  'concurrency=1e9',
  'crash=soon',
  'crash=1ms',
  'crash=9999d',
  'unknown=-1s',
  'unknown=2d',
  'seed=0',
  'seed=-1',
  'limit=0',
  'progress=perhaps',
  'progress=true&crash=soon',
  'day=7',
  `unknown=${'9'.repeat(100)}s`,
])('refuses ?%s', async (query) => {
  const { ask } = await stage()
  const { status, body } = await ask('GET', `${path}?${query}`)
  expect({ status, isTold: String(body['detail']).length > 0 }).toEqual({ status: 422, isTold: true })
})

it('is refused for the role read, because it uses a processor', async () => {
  const { parts } = await stage()
  const { ask, token } = await serveApp(parts, { isLoopback: false })
  const read = await ask('GET', `${path}?days=1`, { token: await token('read') })
  expect(read.status).toBe(403)
  const operate = await ask('GET', `${path}?days=1`, { token: await token('operate') })
  expect(operate.status).toBe(200)
})

it('computes two at the same time, refuses the third, and ends those whose callers are gone', async () => {
  const { parts } = await stage()
  const handler = parts.app.handler({ authorize: () => ({ actor: 'ann', role: 'operate' }) })
  const server = createServer((request, response) => void handler.node(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const gone = [new AbortController(), new AbortController()]
  const open = await Promise.all(gone.map(({ signal }) => fetch(`${url}${long}`, { signal })))
  expect(open.map(({ status }) => status)).toEqual([200, 200])
  const third = await fetch(`${url}${path}?days=1`)
  expect(third.status).toBe(429)
  expect(third.headers.get('retry-after')).toBe('10')
  expect(await third.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS' })
  for (const one of gone) one.abort()
  await vi.waitFor(async () => expect((await fetch(`${url}${path}?days=1`)).status).toBe(200), {
    timeout: 10_000,
    interval: 50,
  })
})

const nothing = {
  stored: { queues: [], jobs: [], triggers: [] },
  history: new Map(),
  plan: {
    fromAt: Date.UTC(2026, 0, 5),
    durationMs: 366 * 86_400_000,
    seed: 1,
    processes: 20,
    concurrency: 10,
    crashEveryMs: 60_000,
    unknownMs: 1000,
  },
}

it.each([
  [{ longestMs: 1, heapMb: 512 }, 'took longer than 0.001 s'],
  [{ longestMs: 600_000, heapMb: 2 }, 'more than 2 MB'],
])('a simulation that needs more than %j is ended, and says so', async (bounds, message) => {
  const given = { bounds, signal: new AbortController().signal, onProgress: () => undefined }
  await expect(simulateInThread(nothing, given)).rejects.toMatchObject({
    code: 'SIMULATION_TOO_LARGE',
    message: expect.stringContaining(message),
  })
})
