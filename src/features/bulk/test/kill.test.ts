import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ended, startScheduler } from '../../../../test/fixtures/scheduler-process.js'
import { SeededRandom } from '../../../testing/random.js'
import { emptyStore, newApp, record } from './stage.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

it(`two processes that are killed with kill -9 change each of five thousand runs once (seed ${seed})`, async () => {
  const store = await emptyStore('sqlite')
  const app = await newApp(store)
  const runs = 5000
  await record(app, runs - 1)
  const random = new SeededRandom(seed)
  const processes = [await startScheduler(store), await startScheduler(store)]
  onTestFinished(async () => void (await Promise.all(processes.map((one) => ended(one, 'SIGTERM')))))
  let killed = 0
  for (const action of ['cancel', 'retry', 'cancel', 'run'] as const) {
    const filter = action === 'cancel' ? 'job:work' : 'state:cancelled'
    const { bulk } = await app.bulk.start({ action, filter })
    const id = bulk?.id ?? ''
    for (let seen = 0; (await app.bulk.get(id)).state === 'running'; ) {
      await wait(random.int(20, 200))
      // Kill only a process that has made progress, so that it dies in the middle.
      const { done } = await app.bulk.get(id)
      if (done === seen) continue
      seen = done
      killed += 1
      const slot = random.int(0, 1)
      await ended(processes[slot] as ChildProcess, 'SIGKILL')
      processes[slot] = await startScheduler(store)
    }
    // A run that was changed twice would count as skipped the second time.
    expect(await app.bulk.get(id)).toMatchObject({ state: 'done', done: runs, skipped: {}, failed: 0 })
  }
  expect(killed).toBeGreaterThan(0)
  expect(await (await app.store()).countRuns({ origin: 'manual' }, 20_000)).toMatchObject({ count: runs })
}, 240_000)
