import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadApp } from '../../../app/definitions/load-app.js'
import { rota, type Rota } from '../../../app/rota.js'
import { decide } from '../../../kernel/run/outcome.js'
import { definePingJob } from '../job.js'

interface Received {
  readonly path: string
  readonly rid: string
  readonly body: string
}

/** A real receiver that refuses a given number of requests. */
async function receiver() {
  const state = {
    received: [] as Received[],
    refusals: 0,
    /** No request is answered before this resolves. */
    hold: Promise.resolve(),
    release: () => undefined as void,
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    const answer = async (): Promise<void> => {
      await state.hold
      const isRefused = state.refusals-- > 0
      const url = new URL(request.url ?? '', 'http://receiver')
      const body = Buffer.concat(chunks).toString()
      if (!isRefused)
        state.received.push({ path: url.pathname, rid: url.searchParams.get('rid') ?? '', body })
      response.writeHead(isRefused ? 503 : 200).end('OK')
    }
    request.on('end', () => void answer())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-check`
  const until = (count: number): Promise<void> =>
    vi.waitFor(() => expect(state.received.length).toBeGreaterThanOrEqual(count), { timeout: 20_000 })
  return { state, url, until }
}

function newApp(): Rota {
  const app = rota({ store: 'memory:' })
  onTestFinished(() => app.stop({ grace: 0 }))
  return app
}

/** Due when it is defined, and then not again. */
const atOnce = { every: '1h', immediate: true } as const

describe('pings of a trigger', () => {
  it('report the start and the end of its runs, with the id of the run', async () => {
    const { state, url, until } = await receiver()
    const app = newApp()
    let end: () => void = () => undefined
    app.job('work', () => new Promise<void>((resolve) => (end = resolve)))
    app.schedule('nightly', { job: 'work', ...atOnce, ping: url })
    await app.start()
    await until(1)
    end()
    await until(2)
    const [start, success] = state.received
    expect(state.received.map(({ path }) => path)).toEqual(['/secret-check/start', '/secret-check'])
    expect(start?.rid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(success?.rid).toBe(start?.rid)
    const [run] = await app.runs.list({ job: 'work' })
    expect(success?.body).toBe(`nightly: success\nrun ${run?.id}`)
  })

  it('report an end only after the start was sent, however long the receiver takes', async () => {
    const { state, url, until } = await receiver()
    const held = new Promise<void>((resolve) => (state.release = resolve))
    state.hold = held
    const app = newApp()
    let end: () => void = () => undefined
    app.job('work', () => new Promise<void>((resolve) => (end = resolve)))
    app.schedule('nightly', { job: 'work', ...atOnce, ping: url })
    await app.start()
    const pings = async () => await app.runs.list({ job: 'alert:ping:run' })
    await vi.waitFor(async () => expect(await pings()).toMatchObject([{ state: 'running' }]), 20_000)
    end()
    await vi.waitFor(async () => expect(await pings()).toHaveLength(2), 20_000)
    const states = (await pings()).map(({ payload, state, waitsFor }) => [
      (payload as { kind: string }).kind,
      state,
      waitsFor?.startsWith('key:alert:ping:run='),
    ])
    expect(states).toContainEqual(['success', 'pending', true])
    expect(states).toContainEqual(['start', 'running', undefined])
    state.release()
    await until(2)
    expect(state.received.map(({ path }) => path)).toEqual(['/secret-check/start', '/secret-check'])
  })

  it('report a failure with its error after the last attempt, also to a receiver that was unreachable', async () => {
    const { state, url, until } = await receiver()
    state.refusals = 2
    const app = newApp()
    app.job('work', () => Promise.reject(new Error('no luck')), { retry: { attempts: 2, delay: '10ms' } })
    app.schedule('nightly', { job: 'work', ...atOnce, ping: url })
    await app.start()
    await vi.waitFor(() => expect(state.received.map(({ path }) => path)).toContain('/secret-check/fail'), {
      timeout: 20_000,
    })
    await until(1)
    expect(state.received.at(-1)?.body).toContain('no luck')
    const [run] = await app.runs.list({ job: 'alert:ping:run', state: 'done' })
    expect(run?.payload).toMatchObject({ trigger: 'nightly' })
  })

  it('are not given up when one worker after another crashes while it sends them', async () => {
    const app = newApp()
    await definePingJob(await app.store(), 0)
    const { job } = await app.jobs.get('alert:ping:run')
    const run = { id: 'r', dueAt: 0, failures: 0, crashes: 20 }
    const lost = { kind: 'lost', error: { code: 'ATTEMPT_LOST', message: 'gone' } } as const
    expect(decide(lost, { run, job, now: 0 })).toMatchObject({ state: 'pending' })
  })

  it('of a trigger that was added at run time reach no private address', async () => {
    const { state, url } = await receiver()
    const app = newApp()
    app.job('work', () => 'done')
    await app.start()
    await app.triggers.add({ added: { job: 'work', ...atOnce, ping: url } })
    const ping = await vi.waitFor(async () => {
      const [found] = await app.runs.list({ job: 'alert:ping:run', limit: 1 })
      expect(found?.error ?? found?.result).toBeDefined()
      return found
    }, 20_000)
    expect(JSON.stringify(ping)).toMatch(/private|loopback/)
    expect(state.received).toEqual([])
  })

  it('do not show the secret of an address in runs, results and errors', async () => {
    const { state, url, until } = await receiver()
    vi.stubEnv('PING_URL', url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const app = newApp()
    app.job('work', () => 'done')
    app.schedule('nightly', { job: 'work', ...atOnce, ping: { env: 'PING_URL' } })
    await app.start()
    await until(1)
    expect(state.received.at(-1)?.path).toBe('/secret-check')
    await vi.waitFor(async () =>
      expect(await app.runs.list({ job: 'alert:ping:run', state: 'done' })).not.toEqual([]),
    )
    expect(JSON.stringify(await app.runs.list({}))).not.toContain('secret-check')
  })

  it.each(['ftp://example.org/x', 'nowhere', 'https://ann:hidden@example.org/x', { secret: 'x' }, 7])(
    '%j is refused as an address',
    (ping) => {
      const app = newApp()
      app.job('work', () => 'done')
      expect(() => app.schedule('nightly', { job: 'work', every: '1h', ping: ping as never })).toThrow(
        /^(?![\s\S]*hidden)[\s\S]*ping/,
      )
    },
  )
})

describe('the ping of the scheduler', () => {
  it('is sent at the interval of the config', async () => {
    const { state, url, until } = await receiver()
    const directory = mkdtempSync(join(tmpdir(), 'rota-pings-'))
    const path = join(directory, 'rota.config.json')
    writeFileSync(path, JSON.stringify({ app: 'shop', store: 'memory:', ping: { url, every: '10s' } }))
    const app = await loadApp(path, { directory })
    onTestFinished(() => app.stop({ grace: 0 }))
    await app.start()
    const [trigger] = await app.triggers.list()
    expect(trigger?.trigger).toMatchObject({ name: 'ping:config:shop', job: 'alert:ping:config:shop' })
    await app.triggers.runNow('ping:config:shop')
    await until(1)
    expect(state.received[0]?.path).toBe('/secret-check')
  })

  it('is sent in addition to those of triggers', async () => {
    const { state, url, until } = await receiver()
    const directory = mkdtempSync(join(tmpdir(), 'rota-pings-'))
    const path = join(directory, 'rota.config.json')
    // The run ends only after its start was sent: for a run that has already ended, only the end is sent.
    const script = 'while [ ! -e told ]; do sleep 0.02; done'
    const jobs = { work: { command: ['sh', '-c', script], ...atOnce, ping: url } }
    writeFileSync(path, JSON.stringify({ app: 'shop', store: 'memory:', ping: { url, every: '1h' }, jobs }))
    const app = await loadApp(path, { directory })
    onTestFinished(() => app.stop({ grace: 0 }))
    await app.start()
    await until(1)
    expect(state.received[0]?.path).toBe('/secret-check/start')
    writeFileSync(join(directory, 'told'), '')
    await until(2)
    expect(state.received[1]?.path).toBe('/secret-check')
  })

  it('is refused without an address', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rota-pings-'))
    const path = join(directory, 'rota.config.json')
    writeFileSync(path, JSON.stringify({ app: 'shop', store: 'memory:', ping: { every: '1s' } }))
    await expect(loadApp(path, { directory })).rejects.toThrow(/ping\.url: it is missing[\s\S]*ping\.every/)
  })
})
