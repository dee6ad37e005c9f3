import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota } from '../../../app/rota.js'
import { daily, monthly } from '../../../kernel/partition/define.js'
import { FakeClock } from '../../../testing/fake-clock.js'

it.each(['sqlite', 'files'])('F13: assets are stored and followed on %s', async (kind) => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-assets-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const store = `${kind}:${join(directory, 'store')}`
  const app = rota({ store })
  app.assets.define('days', { partitions: daily(), materialize: () => undefined })
  app.assets.define('months', { partitions: monthly(), deps: ['days'], materialize: () => undefined })
  await app.assets.schedule('days', { cron: '0 2 * * *' })
  await app.start()
  const followed = new Promise<void>((resolve) => {
    app.on('run:ended', ({ job }) => job === 'months' && resolve())
  })
  const { backfill } = await app.assets.backfill('days', { from: '2025-02-01', to: '2025-02-28' })
  await followed
  expect(await app.runs.list({ job: 'months' })).toMatchObject([{ partition: '2025-02', state: 'done' }])
  expect(await app.backfills.get(backfill?.id ?? '')).toMatchObject({ done: 28, left: 0 })
  await app.stop()
  // Another process sees the same.
  const other = rota({ store })
  const known = (await other.assets.list()).map(({ name, follows, schedules }) => [
    name,
    follows,
    schedules.length,
  ])
  expect(known).toEqual([
    ['days', false, 1],
    ['months', true, 0],
  ])
  const statuses = await other.assets.grid('months', { labels: ['2025-02', '2025-03'] })
  expect(statuses.map(({ state }) => state)).toEqual(['done', 'missing'])
  await other.close()
})

it('F13: manual runs and backfills are followed immediately, without waiting for a poll', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-assets-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  // No timer ever fires.
  const clock = new FakeClock(Date.UTC(2025, 2, 1))
  const app = rota({ store: `sqlite:${join(directory, 'store')}`, clock })
  app.assets.define('raw', { partitions: daily(), materialize: () => undefined })
  app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize: () => undefined })
  await app.start()
  const next = (): Promise<void> =>
    new Promise((resolve) => app.on('run:ended', ({ job }) => job === 'clean' && resolve()))
  const byHand = next()
  await app.assets.materialize('raw', { partition: '2025-02-01' })
  await byHand
  const byBackfill = next()
  await app.assets.backfill('raw', { from: '2025-02-02', to: '2025-02-02' })
  await byBackfill
  const runs = await app.runs.list({ job: 'clean' })
  expect(runs.map(({ partition }) => partition ?? '').toSorted()).toEqual(['2025-02-01', '2025-02-02'])
  await app.close()
})
