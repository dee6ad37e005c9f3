import { expect, it, onTestFinished } from 'vitest'
import { rota } from '../rota.js'

it('another interval keeps the other options of the schedule: `end` and `after: finish`', async () => {
  const app = rota({ store: 'memory:' })
  onTestFinished(() => app.stop())
  app.job('work', () => undefined)
  await app.start({ roles: { worker: false, scheduler: false } })
  const end = '2099-01-01T00:00:00Z'
  await app.triggers.add({
    grid: { job: 'work', every: '1h', anchor: '2026-01-01T00:05:00Z', immediate: true, end },
    chain: { job: 'work', every: '1h', after: 'finish', immediate: true, end },
  })
  const changed = async (name: string) => {
    const { before, after } = await app.triggers.edit(name, { every: '2h' })
    return { before: before.trigger.schedule, after: after.schedule }
  }
  for (const name of ['grid', 'chain']) {
    const { before, after } = await changed(name)
    expect(after).toEqual({ ...before, everyMs: 7_200_000 })
  }
})

it('an interval from the end of a run becomes a grid with null, and the other way round, and keeps its end', async () => {
  const app = rota({ store: 'memory:' })
  onTestFinished(() => app.stop())
  app.job('work', () => undefined)
  await app.start({ roles: { worker: false, scheduler: false } })
  const bounds = { immediate: true, end: '2099-01-01T00:00:00Z' }
  await app.triggers.add({ chain: { job: 'work', every: '1h', after: 'finish', ...bounds } })
  const edit = async (options: Record<string, unknown>) => {
    const { before, after } = await app.triggers.edit('chain', options)
    return [before.trigger.schedule, after.schedule]
  }
  const [chain, grid] = await edit({ every: '2h', after: null })
  expect(grid).toEqual({ ...chain, kind: 'interval', everyMs: 7_200_000 })
  expect((await edit({ every: '1h', after: 'finish' }))[1]).toEqual(chain)
  expect((await edit({ after: null }))[1]).toEqual({ ...chain, kind: 'interval' })
})
