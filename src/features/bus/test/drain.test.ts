import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { appAt } from '../../../../test/fixtures/app-stage.js'
import { settle } from '../../../../test/fixtures/engine-stage.js'

const second = 1000

it('subscribers in a draining process take nothing', async () => {
  const { app, pass } = appAt(Date.UTC(2026, 0, 5), { concurrency: 3, lease: '30s' })
  app.job('work', () => undefined)
  // A listener that is added before the start gets every message.
  app.bus.listen(() => undefined)
  await app.start({ roles: { worker: false } })
  await settle()
  const taken: string[] = []
  app.bus.subscribe({ jobs: ['*'], take: (task) => void taken.push(task.id) })
  await app.workers.drain(hostname())
  await pass(11 * second)
  await app.enqueue('work')
  await pass(30 * second)
  expect(taken).toEqual([])
  await app.workers.undrain(hostname())
  await pass(30 * second)
  expect(taken).toHaveLength(1)
})
