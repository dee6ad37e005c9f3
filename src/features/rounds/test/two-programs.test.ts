import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'

async function aStore(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-programs-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return `sqlite:${join(directory, 'rota.db')}`
}

function program(name: string, store: string): Rota {
  const app = rota({ app: name, store, durability: 'normal' })
  onTestFinished(() => app.close())
  return app
}

/** The result of the next run of the service that ends in this program. */
function nextResult(app: Rota): Promise<unknown> {
  return new Promise((resolve) =>
    app.on('run:ended', ({ job, result }) => job === 'shared' && resolve(result)),
  )
}

const every = '100ms'

it('R10: two programs can have their own code for a service that both list in rounds', async () => {
  const store = await aStore()
  const first = program('first', store)
  first.job('shared', () => 'by the first')
  first.rounds.define('one', { every, services: ['shared'] })
  const second = program('second', store)
  // A command, while the other program has a function.
  second.job('shared', { command: [process.execPath, '-e', "console.log('by the second')"] })
  second.rounds.define('two', { every, services: ['shared'] })
  const ofFirst = nextResult(first)
  await first.start()
  expect(await ofFirst).toBe('by the first')
  await first.stop()
  const ofSecond = nextResult(second)
  await second.start()
  expect(await ofSecond).toMatchObject({ stdout: 'by the second' })
  expect((await second.jobs.list()).map(({ job, source }) => [job.name, source])).toEqual([
    ['shared', 'code:first'],
  ])
  await second.stop()
  // The owner of the definition starts again without a warning.
  const again = program('first', store)
  again.job('shared', () => 'by the first again')
  again.rounds.define('one', { every, services: ['shared'] })
  const ofAgain = nextResult(again)
  await again.start()
  expect(await ofAgain).toBe('by the first again')
})

it('a job of another program that is not a service here is still a conflict', async () => {
  const store = await aStore()
  const first = program('first', store)
  first.job('shared', () => undefined)
  first.rounds.define('one', { every: '1h', services: ['shared'] })
  await first.start()
  const second = program('second', store)
  second.job('shared', () => undefined)
  await expect(second.start()).rejects.toThrow('job shared is already defined by code:first')
})
