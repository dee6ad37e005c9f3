import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp, rota } from '../../src/app/rota.js'
import { postgresDatabases, type Databases } from '../fixtures/databases.js'
import { ShiftedClock } from '../fixtures/shifted-clock.js'

const script = fileURLToPath(new URL('one-request.mjs', import.meta.url))

const enqueue = { path: '/runs', body: { job: 'greet', delay: '1h', reason: 'once' } }

/** A store, and a way to let time pass for its keys. */
interface Stage {
  readonly store: string
  /** The clock of the processes that use it; absent where the store has its own. */
  readonly env?: Readonly<Record<string, string>>
  readonly pass: (ms: number) => Promise<void>
}

interface Sending {
  readonly key?: string
  readonly dies?: string
  /** Whether the answer says how many commits it took. */
  readonly counts?: boolean
  readonly request?: { readonly path: string; readonly body: object }
}

interface Sent {
  readonly signal: unknown
  readonly answer: Record<string, unknown> | undefined
}

/** Sends a request to a new server: in a separate process if that is to be killed, or needs another clock. */
async function send({ store, env }: Stage, options: Sending = {}): Promise<Sent> {
  const { key = 'order-7', dies = '', counts = false, request: { path, body } = enqueue } = options
  if (dies === '' && !counts && env === undefined) return await sendHere(store, { key, path, body })
  return await new Promise<Sent>((resolve) => {
    const args = [script, store, dies, path, JSON.stringify(body), key]
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout) => {
      const answer = stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, unknown>)
      resolve({ signal: error?.signal ?? null, answer })
    })
  })
}

/** As `one-request.mjs` does. */
async function sendHere(store: string, given: { key: string; path: string; body: object }): Promise<Sent> {
  const app = rota({ store })
  app.job('greet', () => 'hello')
  const handler = app.handler({ authorize: () => ({ actor: 'ann', role: 'admin' }) })
  const headers = { host: '127.0.0.1', 'content-type': 'application/json', 'idempotency-key': given.key }
  const body = JSON.stringify(given.body)
  const url = `http://127.0.0.1/api/v1${given.path}`
  const response = await handler(new Request(url, { method: 'POST', headers, body }))
  const { status } = response
  const replayed = response.headers.get('idempotency-replayed')
  const answer = { status, replayed, body: await response.json() }
  await handler.close()
  await app.close()
  return { signal: null, answer }
}

async function kept({ store }: Stage) {
  const app = createApp({ store, create: false }, 'api')
  const runs = await app.runs.list()
  const entries = await app.history()
  await app.close()
  return {
    runs: runs.map(({ id }) => id),
    entries: entries.map(({ action, reason }) => `${action}: ${reason}`),
  }
}

const killed = { signal: 'SIGKILL', answer: undefined }

let postgres: Databases

beforeAll(async () => {
  postgres = await postgresDatabases()
})

afterAll(() => postgres.stop())

function onSqlite(): Stage {
  const directory = mkdtempSync(join(tmpdir(), 'rota-key-'))
  const clock = new ShiftedClock(directory)
  return {
    store: `sqlite:${join(directory, 'rota.db')}`,
    env: clock.env,
    pass: async (ms) => clock.shift(ms),
  }
}

/** Time is the server's there: instead of the clock going on, the keys become older. */
async function onPostgres(): Promise<Stage> {
  const { url, run } = await postgres.create()
  const older = (ms: number) =>
    `update rota.notes set value = jsonb_set(value::jsonb, '{at}', to_jsonb((value::jsonb ->> 'at')::int8 - ${ms}))
      where kind = 'request'`
  return { store: url, pass: (ms) => run(older(ms)) }
}

describe.each([
  ['SQLite', onSqlite],
  ['Postgres', onPostgres],
] as const)('a server on %s that is killed', (_, on) => {
  it.each(['committed', 'answered'])(
    'when its change was %s gives the answer to the same request, and makes one change',
    async (dies) => {
      const stage = await on()
      expect(await send(stage, { dies })).toEqual(killed)
      const { runs, entries } = await kept(stage)
      expect(runs).toHaveLength(1)
      expect(entries).toContain('run.enqueue: once')
      const answer = { status: 201, replayed: 'true', body: { id: runs[0], created: true } }
      expect(await send(stage)).toMatchObject({ signal: null, answer })
      await stage.pass(61_000)
      expect(await send(stage)).toMatchObject({ signal: null, answer })
      expect(await kept(stage)).toEqual({ runs, entries })
    },
  )

  it('cancels a run once, and returns the current run', async () => {
    const stage = await on()
    await send(stage, { dies: 'answered' })
    const [id] = (await kept(stage)).runs
    const request = { path: `/runs/${id}/cancel`, body: { reason: 'not needed' } }
    expect(await send(stage, { key: 'another', dies: 'committed', request })).toEqual(killed)
    const { answer } = await send(stage, { key: 'another', request })
    expect(answer).toMatchObject({
      status: 200,
      replayed: 'true',
      body: { run: { id, state: 'cancelled' }, requested: false },
    })
  })

  it('makes no second change if the answer is lost, and says what was changed', async () => {
    const stage = await on()
    const request = { path: '/freeze', body: { reason: 'once' } }
    expect(await send(stage, { dies: 'committed', request })).toEqual(killed)
    const soon = await send(stage, { request })
    expect(soon.answer).toMatchObject({ status: 409, body: { code: 'KEY_IN_USE' } })
    await stage.pass(61_000)
    const { entries } = await kept(stage)
    const later = await send(stage, { request })
    expect(later.answer).toMatchObject({
      status: 409,
      body: {
        code: 'ANSWER_LOST',
        changed: [{ action: 'freeze', target: 'all', subjects: ['all'] }],
        todo: expect.stringContaining('do not repeat it'),
      },
    })
    expect((await kept(stage)).entries).toEqual(entries)
  })
})

it('a server on Postgres that is killed around any of its commits makes one change', async () => {
  const stage = await onPostgres()
  await send(stage, { key: 'first' })
  const whole = await send(stage, { key: 'whole', counts: true })
  const commits = Number(whole.answer?.['commits'])
  // Of the key, of the change, and of the answer.
  expect(commits).toBeGreaterThanOrEqual(3)
  const keys = Array.from({ length: commits }, (_, i) => [`before-commit-${i + 1}`, `commit-${i + 1}`]).flat()
  for (const key of keys) expect(await send(stage, { key, dies: key }), key).toEqual(killed)
  const before = await kept(stage)
  const answers = new Map<string, Record<string, unknown> | undefined>()
  for (const key of keys) answers.set(key, (await send(stage, { key })).answer)
  // Those that died between the key and the change: their keys can be taken over after a minute.
  const early = keys.filter((key) => answers.get(key)?.['status'] === 409)
  for (const key of early) expect(answers.get(key), key).toMatchObject({ body: { code: 'KEY_IN_USE' } })
  await stage.pass(61_000)
  for (const key of early) answers.set(key, (await send(stage, { key })).answer)
  const made = keys.map((key) => {
    const answer = answers.get(key)
    expect(answer, key).toMatchObject({ status: 201, body: { id: expect.any(String), created: true } })
    return (answer as { body: { id: string } }).body.id
  })
  const { runs, entries } = await kept(stage)
  expect(new Set(made).size).toBe(keys.length)
  expect(runs).toEqual(expect.arrayContaining(made))
  expect(runs).toHaveLength(keys.length + 2)
  expect(entries.filter((one) => one === 'run.enqueue: once')).toHaveLength(keys.length + 2)
  // Some died before their change, and some after it.
  expect(early.length).toBeGreaterThan(0)
  expect(before.runs.length).toBeGreaterThan(2)
}, 120_000)
