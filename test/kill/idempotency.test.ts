import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { ShiftedClock } from '../fixtures/shifted-clock.js'

const script = fileURLToPath(new URL('one-request.mjs', import.meta.url))

/** Sends the same request from a process of its own, which may die at a point. */
async function send(store: string, where: string, env: Readonly<Record<string, string>>) {
  return await new Promise<{ signal: unknown; answer: Record<string, unknown> | undefined }>((resolve) => {
    const options = { env: { ...process.env, ...env } }
    execFile(process.execPath, [script, store, where], options, (error, stdout) => {
      const answer = stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, unknown>)
      resolve({ signal: error?.signal ?? null, answer })
    })
  })
}

async function kept(store: string) {
  const app = createApp({ store, create: false }, 'api')
  const [runs, entries] = [await app.runs.list(), await app.history({ action: 'run.enqueue' })]
  await app.close()
  return { runs: runs.map(({ id }) => id), entries: entries.map(({ reason }) => reason) }
}

it('a server that is killed before it answered gives the same answer to the same request, and one change', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-key-'))
  const store = `sqlite:${join(directory, 'rota.db')}`
  const { env } = new ShiftedClock(directory)
  expect(await send(store, 'answered', env)).toEqual({ signal: 'SIGKILL', answer: undefined })
  const { runs } = await kept(store)
  expect(runs).toHaveLength(1)
  const again = await send(store, '', env)
  expect(again.answer).toEqual({ status: 201, replayed: 'true', body: { id: runs[0], created: true } })
  expect(await kept(store)).toEqual({ runs, entries: ['once'] })
})

it('a server that is killed between the commit and its answer makes no second change, and says that one was made', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-key-'))
  const store = `sqlite:${join(directory, 'rota.db')}`
  const clock = new ShiftedClock(directory)
  expect(await send(store, 'committed', clock.env)).toEqual({ signal: 'SIGKILL', answer: undefined })
  const soon = await send(store, '', clock.env)
  expect(soon.answer).toMatchObject({ status: 409, body: { code: 'KEY_IN_USE' } })
  clock.shift(61_000)
  const later = await send(store, '', clock.env)
  expect(later.answer).toMatchObject({ status: 409, body: { code: 'ANSWER_LOST' } })
  const found = await kept(store)
  expect(found.runs).toHaveLength(1)
  expect(found.entries).toEqual(['once'])
})
