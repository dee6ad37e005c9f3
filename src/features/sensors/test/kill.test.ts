import { spawn, type ChildProcess } from 'node:child_process'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import type { Run } from '../../../app/public-types.js'
import { SeededRandom } from '../../../testing/random.js'

const program = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./kill.config.mjs', import.meta.url))
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['KILLS'] ?? 15)
const items = 2000

it(`F5, G8: a process that reads a stream of ${items} items, killed with kill -9 ${kills} times, triggers each exactly once (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-kill-sensors-'))
  const stream = join(directory, 'stream.txt')
  const store = `sqlite:${join(directory, 'rota.db')}`
  await writeFile(stream, '')
  const random = new SeededRandom(seed)
  let process = await start(store, stream)
  const reader = rota({ store, app: 'kill-test-reader' })
  let written = 0
  for (let i = 0; i < kills; i++) {
    const until = Math.floor(((i + 1) * items) / (kills + 1))
    const lines = Array.from({ length: until - written }, (_, k) => `item-${written + k}\n`)
    const enough = written + random.int(1, lines.length - 1)
    await appendFile(stream, lines.join(''))
    written = until
    // In the middle: some items are found, others are not.
    while ((await countOf(reader)) < enough) await wait(1)
    if (random.chance(0.5)) await wait(random.int(0, 5))
    await ended(process, 'SIGKILL')
    process = await start(store, stream)
  }
  for (; written < items; written++) await appendFile(stream, `item-${written}\n`)
  const runs = await untilAllAreDone(reader)
  await reader.close()
  await ended(process, 'SIGTERM')
  const keys = runs.map(({ labels }) => labels?.['key'])
  expect(keys).toHaveLength(items)
  expect(new Set(keys)).toEqual(new Set(Array.from({ length: items }, (_, i) => `item-${i}`)))
  expect(runs.every(({ state }) => state === 'done')).toBe(true)
  await rm(directory, { recursive: true })
}, 600_000)

/** Resolves when the program reports that it has started. */
async function start(store: string, stream: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, 'up', '--config', config, '--no-serve', '--json'], {
    env: { ...process.env, KILL_TEST_STORE: store, KILL_TEST_STREAM: stream },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', (code, signal) =>
      reject(new Error(`the program ended by itself with ${code ?? signal}`)),
    )
  })
  child.stdout?.resume()
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await exit
}

async function countOf(app: Rota): Promise<number> {
  const counts = await (await app.store()).counts()
  return counts.pending + counts.running + counts.done
}

async function untilAllAreDone(app: Rota): Promise<readonly Run[]> {
  for (;;) {
    const runs = await app.runs.list({ limit: items * 2 })
    if (runs.filter(({ state }) => state === 'done').length >= items) return runs
    await wait(100)
  }
}
