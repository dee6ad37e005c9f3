import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota } from '../../src/index.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

let server: PostgresServer
let store: string
let directory: string
let diary: string
const children: ChildProcess[] = []

beforeAll(async () => {
  server = await PostgresServer.start()
  store = (await PostgresStores.on(server)).fresh()
  directory = mkdtempSync(join(tmpdir(), 'rota-stopped-'))
  diary = join(directory, 'diary.txt')
  writeFileSync(diary, '')
})

afterAll(async () => {
  await Promise.all(children.map(ended))
  rmSync(directory, { recursive: true })
  await server.stop()
})

it('G4, G5: a worker that is stopped for longer than its lease loses its run, and its late report is refused', async () => {
  await Promise.all([up('scheduler,worker'), up('worker')])
  const app = rota({ store, app: 'stop-test-client' })
  const { id } = await app.enqueue('slow')
  const [, , , first] = await line((words) => words[0] === 'begin' && words[1] === id)
  process.kill(Number(first), 'SIGSTOP')
  await line((words) => words[0] === 'end' && words[1] === id && words[3] !== first)
  const done = await app.runs.wait(id)
  expect(done).toMatchObject({ state: 'done', attempt: 2, crashes: 1 })
  process.kill(Number(first), 'SIGCONT')
  await line((words) => words[0] === 'end' && words[1] === id && words[3] === first)
  // It has a new id when it gets a run again.
  await line(
    (words) => words[0] === 'begin' && words[3] === first && words[1] !== id,
    () => app.enqueue('slow'),
  )
  // Its late report shows that it is alive, so its attempt was no crash. The result does not change.
  await expect.poll(() => app.runs.get(id)).toEqual({ ...done, crashes: 0 })
  expect((await app.runs.attempts(id)).map(({ end }) => end)).toEqual(['released', 'done'])
  await app.close()
}, 60_000)

/** Starts the program; resolves when it reports that it has started. */
async function up(roles: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [program, 'up', '--config', config, '--no-serve', '--roles', roles, '--json'],
    {
      env: { ...process.env, STOP_TEST_STORE: store, STOP_TEST_DIARY: diary },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  children.push(child)
  child.stdout.resume()
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
}

/** The first matching line of the diary, as soon as it exists; a callback runs after each failed check. */
async function line(
  fits: (words: readonly string[]) => boolean,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  for (;;) {
    const lines = readFileSync(diary, 'utf8').split('\n')
    const found = lines.map((text) => text.split(' ')).find(fits)
    if (found !== undefined) return found
    await meanwhile()
    await wait(50)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}
