import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { ShiftedClock } from '../fixtures/shifted-clock.js'

const script = fileURLToPath(new URL('one-request.mjs', import.meta.url))

const enqueue = { path: '/runs', body: { job: 'greet', delay: '1h', reason: 'once' } }

interface Sending {
  readonly env: Readonly<Record<string, string>>
  readonly key?: string
  readonly dies?: string
  readonly request?: { readonly path: string; readonly body: object }
}

/** Sends a request from a process of its own, which may die at a point. */
async function send(store: string, options: Sending) {
  const { env, key = 'order-7', dies = '', request: { path, body } = enqueue } = options
  return await new Promise<{ signal: unknown; answer: Record<string, unknown> | undefined }>((resolve) => {
    const args = [script, store, dies, path, JSON.stringify(body), key]
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout) => {
      const answer = stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, unknown>)
      resolve({ signal: error?.signal ?? null, answer })
    })
  })
}

async function kept(store: string) {
  const app = createApp({ store, create: false }, 'api')
  const runs = await app.runs.list()
  const entries = await app.history()
  await app.close()
  return {
    runs: runs.map(({ id }) => id),
    entries: entries.map(({ action, reason }) => `${action}: ${reason}`),
  }
}

function stage() {
  const directory = mkdtempSync(join(tmpdir(), 'rota-key-'))
  return { store: `sqlite:${join(directory, 'rota.db')}`, clock: new ShiftedClock(directory) }
}

const killed = { signal: 'SIGKILL', answer: undefined }

describe('a server that is killed', () => {
  it.each(['committed', 'answered'])(
    'when its change was %s gives the answer to the same request, and makes one change',
    async (dies) => {
      const { store, clock } = stage()
      const { env } = clock
      expect(await send(store, { env, dies })).toEqual(killed)
      const { runs, entries } = await kept(store)
      expect(runs).toHaveLength(1)
      expect(entries).toContain('run.enqueue: once')
      const answer = { status: 201, replayed: 'true', body: { id: runs[0], created: true } }
      expect(await send(store, { env })).toEqual({ signal: null, answer })
      clock.shift(61_000)
      expect(await send(store, { env })).toEqual({ signal: null, answer })
      expect(await kept(store)).toEqual({ runs, entries })
    },
  )

  it('cancels a run once, and answers with the run as it is', async () => {
    const { store, clock } = stage()
    const { env } = clock
    await send(store, { env, dies: 'answered' })
    const [id] = (await kept(store)).runs
    const request = { path: `/runs/${id}/cancel`, body: { reason: 'not needed' } }
    expect(await send(store, { env, key: 'another', dies: 'committed', request })).toEqual(killed)
    const { answer } = await send(store, { env, key: 'another', request })
    expect(answer).toMatchObject({
      status: 200,
      replayed: 'true',
      body: { run: { id, state: 'cancelled' }, requested: false },
    })
  })

  it('makes no second change where the answer cannot be made again, and says what was changed', async () => {
    const { store, clock } = stage()
    const { env } = clock
    const request = { path: '/freeze', body: { reason: 'once' } }
    expect(await send(store, { env, dies: 'committed', request })).toEqual(killed)
    const soon = await send(store, { env, request })
    expect(soon.answer).toMatchObject({ status: 409, body: { code: 'KEY_IN_USE' } })
    clock.shift(61_000)
    const { entries } = await kept(store)
    const later = await send(store, { env, request })
    expect(later.answer).toMatchObject({
      status: 409,
      body: {
        code: 'ANSWER_LOST',
        changed: [{ action: 'freeze', target: 'all', subjects: ['all'] }],
        todo: expect.stringContaining('do not repeat it'),
      },
    })
    expect((await kept(store)).entries).toEqual(entries)
  })
})
