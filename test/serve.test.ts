import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../src/client/client.js'
import { emptyDirectory, rota, start } from './cli/rota.js'
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
  const running = start(['up', '--port', '0', ...args], { cwd })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  const text = await running.said(/serves the API at http:\/\/127\.0\.0\.1:\d+/)
  const [, port = ''] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? []
  const url = `http://127.0.0.1:${port}`
  return { cwd, running, url, port: Number(port), client: createClient({ url }) }
}

describe('rota up --port', () => {
  it('serves what the command line shows, and changes it', async () => {
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

  it('tells its health and its metrics', async () => {
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

  it('streams what changes, and resumes after what a reader knows', async () => {
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
  })

  it('refuses forged hosts and foreign pages', async () => {
    const { port, url } = await up()
    expect(await statusOf(port, { host: 'evil.example' })).toBe(403)
    expect(await statusOf(port, { host: `localhost:${port}` })).toBe(200)
    expect((await fetch(`${url}/api/v1/runs`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      403,
    )
  })

  it('on another address refuses to start without a token, and then asks for it', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.yaml'), config)
    const refused = await rota(['up', '--port', '0', '--host', '0.0.0.0'], { cwd })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('rota token create')
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

  it('refuses an address without a port', async () => {
    const refused = await rota(['up', '--host', '0.0.0.0'])
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--host: it needs --port') as string,
    })
  })

  it('stops in order while a stream is open', async () => {
    const { running, url } = await up()
    const response = await fetch(`${url}/api/v1/stream`)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect(await response.text()).toContain('event: bye')
  })
})

it('the files that are made from the routes are up to date', async () => {
  const script = '../scripts/api-files.mjs'
  const { apiFiles } = (await import(script)) as { apiFiles: () => Promise<Record<string, string>> }
  const made = await apiFiles()
  for (const [path, text] of Object.entries(made)) {
    const committed = readFileSync(join(root, path), 'utf8')
    // The formatter has a say in code and JSON, so only the words are compared.
    expect({ path, isCurrent: wordsOf(committed) === wordsOf(text) }).toEqual({ path, isCurrent: true })
  }
})

function wordsOf(text: string): string {
  return text.replaceAll(/[\s|;,'"()]+/g, '')
}

/** The first change that the stream tells after something was done. */
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

/** The status of a request whose host header is anything. */
async function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/api/v1/runs', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}
