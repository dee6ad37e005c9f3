import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { rota } from '../../src/app/rota.js'
import { SeededRandom } from '../../src/testing/random.js'
import { ended, startScheduler } from '../fixtures/scheduler-process.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-05T23:59:59Z' }
const instants = 5 * 24 * 60

it(`a backfill whose processes are killed with kill -9 runs each of ${instants} due times once, or stops (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-backfill-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const store = `sqlite:${join(directory, 'rota.db')}`
  const app = rota({ store })
  onTestFinished(() => app.close())
  await app.jobs.add({ work: { command: ['true'] } })
  await app.triggers.add({ often: { job: 'work', cron: '* * * * *', timezone: 'UTC', overlap: 'allow' } })
  const random = new SeededRandom(seed)
  const processes = [await startScheduler(store), await startScheduler(store)]
  onTestFinished(async () => void (await Promise.all(processes.map((one) => ended(one, 'SIGTERM')))))
  const plan = async (): Promise<string> => {
    const options = { ...range, definition: 'current', only: 'all' } as const
    return (await app.triggers.backfill('often', options)).backfill?.id ?? ''
  }
  let killed = 0
  const killSome = async (isOver: () => Promise<boolean>): Promise<void> => {
    do {
      await wait(random.int(5, 150))
      const slot = random.int(0, 1)
      await ended(processes[slot] as ChildProcess, 'SIGKILL')
      processes[slot] = await startScheduler(store)
      killed += 1
    } while (!(await isOver()))
  }
  const stateOf = async (id: string): Promise<string> => (await app.backfills.get(id)).state

  const id = await plan()
  // The process that starts it is killed as well, and it is started twice.
  for (let i = 0; i < 2; i++) {
    const starter = spawn(process.execPath, [program, 'backfill', '--start', id, '--store', store])
    await wait(random.int(300, 700))
    await ended(starter, 'SIGKILL')
  }
  if ((await stateOf(id)) === 'planned') await app.backfills.start(id)
  await killSome(async () => (await stateOf(id)) === 'started')
  const labels = { backfill: id }
  expect(await app.runs.list({ labels, limit: 10_000 })).toHaveLength(instants)
  const dueAts = (await app.runs.list({ labels, limit: 10_000 })).map(({ dueAt }) => dueAt.getTime())
  expect(new Set(dueAts).size).toBe(instants)

  const next = await app.backfills.cancel(id)
  expect(next).toMatchObject({ state: 'cancelled', cancelledRuns: instants })
  const other = await plan()
  // If the cancel comes first, it cannot be started any more.
  const starting = app.backfills.start(other).catch(() => undefined)
  const cancelling = app.backfills.cancel(other)
  await killSome(async () => (await stateOf(other)) === 'cancelled')
  await Promise.all([starting, cancelling])
  const unfinished = await app.runs.list({ state: ['pending', 'running'], origin: 'backfill', limit: 10 })
  expect(unfinished).toEqual([])
  expect(killed).toBeGreaterThan(0)
  expect((await app.coverage({ trigger: 'often' }))[0]).toMatchObject({ unexplainedCount: 0 })
}, 240_000)
