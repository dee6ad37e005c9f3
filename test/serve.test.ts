import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../src/client/client.js'
import { emptyDirectory, rota, start } from './cli/rota.js'
import { isWhole } from './features.js'
import { isThere, readerOf, readersOf } from './fixtures/children.js'
import { root } from './repository.js'

const config = `store: sqlite:data/rota.db
jobs:
  greet: { command: [echo, hello] }
  broken: { command: ['false'] }
triggers:
  nightly: { job: greet, cron: '0 2 * * *', timezone: Europe/Berlin }
`

/** `rota up` with the API on a free port. */
async function up(args: readonly string[] = []) {
  const cwd = emptyDirectory()
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(cwd, 'rota.config.yaml'), config)
  const running = start(['up', ...(args.includes('--port') ? [] : ['--port', '0']), ...args], { cwd })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  const text = await running.said(/serves the API at http:\/\/127\.0\.0\.1:\d+/)
  const [, port = ''] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? []
  const url = `http://127.0.0.1:${port}`
  return { cwd, running, url, port: Number(port), client: createClient({ url }) }
}

const json = { 'content-type': 'application/json' }

/** Starts the command directly, because the helper switches serving off. */
function started(args: readonly string[], cwd: string) {
  const running = start(args, { cwd, serves: true })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  return running
}

/** `rota up` with the API on its default port. */
async function serving(args: readonly string[], more: string) {
  const cwd = emptyDirectory()
  writeFileSync(join(cwd, 'rota.config.yaml'), `${config}${more}`)
  const text = await started(['up', ...args], cwd).said(/serves the API at \S+/)
  const [, address = ''] = /serves the API at (\S+)/.exec(text) ?? []
  return { cwd, address }
}

/** A server on a port, if it is free. */
async function occupied(port: number): Promise<Server | undefined> {
  const server = createServer()
  const isMine = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (isMine) onTestFinished(() => void server.close())
  return isMine ? server : undefined
}

describe('rota up --port', () => {
  it('serves the same data as the command line, and changes it', async () => {
    const { client, cwd, url } = await up()
    const { items } = await client('GET /triggers')
    expect(items).toMatchObject([{ name: 'nightly', state: 'on' }])
    const { id } = await client('POST /runs', { body: { job: 'greet' } })
    const log = await fetch(`${url}/api/v1/runs/${id}/logs?follow=true`)
    expect(await log.text()).toContain('"text":"hello"')
    const shown = await rota(['runs', '--json'], { cwd })
    const listed = (await client('GET /runs')).items
    expect(listed.map((run) => run.id)).toEqual(
      (JSON.parse(shown.stdout) as { id: string }[]).map((run) => run.id),
    )
    await client('POST /triggers/{name}/pause', { path: { name: 'nightly' }, body: { reason: 'upgrade' } })
    expect((await rota(['list'], { cwd })).stdout).toContain('paused')
    await expect(client('GET /runs/{id}', { path: { id: 'nothing-like-it' } })).rejects.toMatchObject({
      status: 404,
      code: 'RUN_UNKNOWN',
    })
  })

  it('serves its health and its metrics', async () => {
    const { client, url } = await up()
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    await (await fetch(`${url}/metrics`)).text()
    const { id } = await client('POST /runs', { body: { job: 'broken' } })
    await expect.poll(async () => (await client('GET /runs/{id}', { path: { id } })).state).toBe('failed')
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text).toContain('rota_attempts_ended_total{job="broken",end="failed"} 1')
    expect(text).toContain('rota_runs{state="failed"} 1')
    expect(text).toMatch(/nodejs_eventloop_lag_seconds \d/)
  })

  it('streams changes, and resumes after the last known event', async () => {
    const { client, url } = await up()
    const first = await changesOf(`${url}/api/v1/stream`, {}, () =>
      client('POST /runs', { body: { job: 'greet' } }),
    )
    expect(first.topics).toContain('runs')
    await client('POST /queues/{name}/pause', { path: { name: 'default' }, body: {} })
    const again = await changesOf(
      `${url}/api/v1/stream`,
      { 'last-event-id': first.id },
      async () => undefined,
    )
    expect(again.topics).toContain('holds')
    // The id of another release, which has other numbers.
    const unknown = { 'last-event-id': '2248836b.12.16' }
    const all = await changesOf(`${url}/api/v1/stream`, unknown, async () => undefined)
    expect(all.topics).toContain('reset')
  })

  it('refuses forged hosts and foreign pages', async () => {
    const { port, url } = await up()
    expect(await statusOf(port, { host: 'evil.example' })).toBe(403)
    expect(await statusOf(port, { host: `localhost:${port}` })).toBe(200)
    expect((await fetch(`${url}/api/v1/runs`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      403,
    )
  })

  it('on another address refuses to start without a token, and then requires it', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.yaml'), config)
    const refused = await rota(['up', '--port', '0', '--host', '0.0.0.0'], { cwd })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('rota token create')
    expect(await rota(['token', 'create', 'local'], { cwd })).toMatchObject({ code: 2 })
    const short = await rota(['token', 'create', 'short', '--expires', '1s', '--json'], { cwd })
    const { expiresAt } = JSON.parse(short.stdout) as { expiresAt: string }
    await vi.waitUntil(() => Date.now() > Date.parse(expiresAt), { timeout: 5000 })
    const expired = await rota(['up', '--port', '0', '--host', '0.0.0.0'], { cwd })
    expect(expired).toMatchObject({ code: 2, stderr: expect.stringContaining('still valid') })
    expect(
      (await rota(['token', 'revoke', (JSON.parse(short.stdout) as { id: string }).id], { cwd })).code,
    ).toBe(0)
    const made = await rota(['token', 'create', 'ci', '--role', 'operate'], { cwd })
    const token = made.stdout.trim()
    expect(token).toMatch(/^rota_[0-9a-f]{12}_[\w-]{43}$/)
    const running = start(['up', '--port', '0', '--host', '0.0.0.0'], { cwd })
    onTestFinished(async () => {
      running.child.kill('SIGKILL')
      await running.ended
    })
    const [, port] = /:(\d+)\/api/.exec(await running.said(/serves the API at \S+/)) ?? []
    const url = `http://127.0.0.1:${port}`
    expect((await fetch(`${url}/api/v1/runs`)).status).toBe(401)
    expect(await createClient({ url, token })('GET /session')).toMatchObject({
      actor: 'ci',
      role: 'operate',
    })
    const listed = await rota(['token', 'list', '--json'], { cwd })
    expect(listed.stdout).not.toContain(token.slice(-20))
    const [{ id }] = JSON.parse(listed.stdout) as [{ id: string }]
    expect((await rota(['token', 'revoke', id], { cwd })).code).toBe(0)
    expect(
      (await fetch(`${url}/api/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(401)
  })

  it('serves by default, on the next free port, and says where', async () => {
    // Whatever else runs on this machine, these two cannot have the same port.
    const [one, other] = await Promise.all([serving([], ''), serving([], '')])
    expect(one.address).toMatch(/^http:\/\/127\.0\.0\.1:707\d\/api\/v1$/)
    expect(other.address).toMatch(/^http:\/\/127\.0\.0\.1:707\d\/api\/v1$/)
    expect(one.address).not.toBe(other.address)
    expect((await fetch(`${one.address}/runs`)).status).toBe(200)
  })

  it('starts without the API if every usual port is taken, and fails if the named one is', async () => {
    const taken = await Promise.all(Array.from({ length: 10 }, (_, i) => occupied(7070 + i)))
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.yaml'), config)
    const running = started(['up'], cwd)
    const text = await running.said(/rota is up[^]*serves no API: the ports 7070 to 7079/)
    expect(text).toContain('rota is up')
    const refused = await rota(['up', '--port', '7070'], { cwd })
    expect(refused).toMatchObject({ code: 74, stderr: expect.stringContaining('in use') as string })
    taken.forEach((server) => server?.close())
  })

  it('serves where the config says, read-only, or not at all', async () => {
    const { address } = await serving([], 'serve: { port: 0, readOnly: true }\n')
    const refused = await fetch(`${address}/freeze`, { method: 'POST', headers: json, body: '{}' })
    expect(await refused.json()).toMatchObject({ code: 'READ_ONLY' })
    const asked = { method: 'POST', headers: json, body: JSON.stringify({ expression: '0 2 * * *' }) }
    expect((await fetch(`${address}/preview`, asked)).status).toBe(200)
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.yaml'), `${config}serve: false\n`)
    const running = started(['up', '--json'], cwd)
    const text = await running.said('"event":"hint"')
    expect(text).toContain('"event":"up"')
    expect(text).not.toContain('serving')
    writeFileSync(join(cwd, 'rota.config.yaml'), `${config}serve: { port: web, hots: x }\n`)
    const faulty = await rota(['up'], { cwd })
    expect(faulty.stderr).toMatch(/serve\.port[^]*serve\.hots|serve\.hots[^]*serve\.port/)
  })

  it('--role api serves, and neither plans nor performs', async () => {
    const { address } = await serving(['--role', 'api', '--port', '0'], '')
    const client = createClient({ url: address.replace('/api/v1', '') })
    expect((await fetch(`${address.replace('/api/v1', '')}/health/ready`)).status).toBe(200)
    await client('POST /jobs', { body: { jobs: { extra: { command: ['true'] } } } })
    const { id } = await client('POST /runs', { body: { job: 'extra' } })
    expect(await client('GET /workers')).toMatchObject({ items: [] })
    expect(await client('GET /runs/{id}', { path: { id } })).toMatchObject({ state: 'pending' })
    expect((await client('GET /triggers')).items).toEqual([])
  })

  it('refuses options that contradict each other', async () => {
    const refused = await rota(['up', '--no-serve', '--host', '0.0.0.0'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--no-serve') as string })
  })

  it('stops cleanly while a stream is open', async () => {
    const { running, url } = await up()
    const response = await fetch(`${url}/api/v1/stream`)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect(await response.text()).toContain('event: bye')
  })
})

it.skipIf(!isWhole)('the files that are generated from the routes are up to date', async () => {
  const script = '../scripts/api-files.mjs'
  const { apiFiles } = (await import(script)) as { apiFiles: () => Promise<Record<string, string>> }
  const made = await apiFiles()
  for (const [path, text] of Object.entries(made)) {
    const committed = readFileSync(join(root, path), 'utf8')
    // The formatter changes code and JSON, so only the words are compared.
    expect({ path, isCurrent: wordsOf(committed) === wordsOf(text) }).toEqual({ path, isCurrent: true })
  }
})

describe('the process that answers reads for rota up', () => {
  it('ends with a killed rota up, even while streams are open, and the port is free again', async () => {
    const { running, url, port } = await up()
    const stream = await fetch(`${url}/api/v1/stream`)
    const reader = await readerOf(running.child.pid ?? 0)
    running.child.kill('SIGKILL')
    await expect(stream.text()).rejects.toThrow('terminated')
    while (await isThere(reader)) await turn()
    const next = await up(['--port', String(port)])
    expect((await fetch(`${next.url}/api/v1/triggers`)).status).toBe(200)
  })

  it('ignores signals of a terminal or a service: rota up drains first', async () => {
    const { running, url, cwd } = await up()
    const reader = await readerOf(running.child.pid ?? 0)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(reader, signal)
    expect((await fetch(`${url}/api/v1/triggers`)).status).toBe(200)
    expect(await readersOf(running.child.pid ?? 0)).toEqual([reader])
    running.child.kill('SIGTERM')
    process.kill(reader, 'SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect(await isThere(reader)).toBe(false)
    expect((await rota(['doctor'], { cwd })).code).toBe(0)
  })

  it('is replaced at the same port when it was killed', async () => {
    const { running, url } = await up()
    const reader = await readerOf(running.child.pid ?? 0)
    process.kill(reader, 'SIGKILL')
    await running.said(/the process that answers reads has ended \(SIGKILL\)/)
    const answers = async (): Promise<number> =>
      await fetch(`${url}/api/v1/triggers`).then(
        ({ status }) => status,
        () => 0,
      )
    while ((await answers()) !== 200) await turn()
    expect(await readersOf(running.child.pid ?? 0)).not.toContain(reader)
  })
})

it('the OpenAPI document is valid', async () => {
  const document = JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8')) as object
  const validator = new Validator()
  expect(await validator.validate({ ...document })).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  // The validator does find faults.
  expect(await new Validator().validate({ ...document, paths: [] })).toMatchObject({ valid: false })
})

function wordsOf(text: string): string {
  return text.replaceAll(/[\s|;,'"()]+/g, '')
}

/** The first change that the stream reports after an action. */
async function changesOf(url: string, headers: Record<string, string>, act: () => Promise<unknown>) {
  const { body } = await fetch(url, { headers })
  let text = ''
  await act()
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const [, id, data] = /id: (\S+)\nevent: changed\ndata: (.*)\n/.exec(text) ?? []
    if (id === undefined || data === undefined) continue
    return { id, topics: (JSON.parse(data) as { topics: string[] }).topics }
  }
  throw new Error(`the stream ended: ${text}`)
}

/** The status of a request with any host header. */
async function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/api/v1/runs', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}
