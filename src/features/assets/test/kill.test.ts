import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { SeededRandom } from '../../../testing/random.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['KILLS'] ?? 12)
const program = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

it(`F13, G8: killed with kill -9 ${kills} times while February is backfilled, every day and the month are produced once (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-assets-kill-'))
  const store = `sqlite:${join(directory, 'rota.db')}`
  const random = new SeededRandom(seed)
  const processes = [await start(store), await start(store)]
  const app = rota({ store, app: 'kill-test-client' })
  await app.assets.backfill('hours', { from: '2025-02-01T00:00Z', to: '2025-02-28T23:00Z', concurrency: 15 })
  for (let i = 0; i < kills; i++) {
    await wait(random.int(20, 500))
    const slot = random.int(0, 1)
    await ended(processes[slot] as ChildProcess, 'SIGKILL')
    processes[slot] = await start(store)
  }
  await untilMade(app, 'months', '2025-02')
  await Promise.all(processes.map((process) => ended(process, 'SIGTERM')))
  const made = async (job: string): Promise<string[]> =>
    (await app.runs.list({ job, limit: 2000 }))
      .map(({ partition, state }) => `${partition} ${state}`)
      .toSorted()
  expect(await made('hours')).toHaveLength(672)
  expect(await made('days')).toEqual(
    Array.from({ length: 28 }, (_, day) => `2025-02-${String(day + 1).padStart(2, '0')} done`),
  )
  expect(await made('months')).toEqual(['2025-02 done'])
  expect(await (await app.store()).stateEntries({ kind: 'arrival', limit: 9 })).toEqual([])
  await app.close()
  await rm(directory, { recursive: true })
}, 240_000)

async function untilMade(app: Rota, asset: string, partition: string): Promise<void> {
  for (;;) {
    const [status] = await app.assets.grid(asset, { labels: [partition] })
    if (status?.state === 'done') return
    await wait(100)
  }
}

/** Resolves when the program reports that it has started. */
async function start(store: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, 'up', '--config', config, '--no-serve', '--json'], {
    env: { ...process.env, KILL_TEST_STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout?.resume()
  await new Promise<void>((resolve) => {
    child.stdout?.once('data', () => resolve())
  })
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await exit
}
