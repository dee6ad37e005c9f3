import { expect, it } from 'vitest'
import { appAt } from '../../../test/fixtures/app-stage.js'
import { insideOf, type App } from '../../app/rota.js'
import { ProcessMetrics } from './metrics.js'

const start = Date.parse('2026-03-01T00:00:00Z')
const hour = 3_600_000

it('a run of a backfill is not late, and one of the trigger itself is', async () => {
  const { app, pass } = appAt(start)
  app.job('work', () => undefined)
  await app.start()
  await app.triggers.add({
    t: { job: 'work', cron: '0 * * * *', timezone: 'UTC', overlap: 'allow', catchUp: 'all' },
  })
  const metrics = new ProcessMetrics(insideOf(app) as App)
  const measured = async (): Promise<(string | undefined)[]> => {
    const text = await metrics.text()
    return ['sum', 'count'].map(
      (what) => new RegExp(`rota_start_lateness_seconds_${what} (.*)`).exec(text)?.[1],
    )
  }
  await pass(hour)
  expect(await measured()).toEqual(['0', '1'])
  const range = { from: new Date(start - 5 * hour), to: new Date(start), definition: 'current' } as const
  const { backfill } = await app.triggers.backfill('t', { ...range, only: 'all' })
  await app.backfills.start(backfill?.id ?? '')
  await pass(10_000)
  expect(await app.runs.list({ origin: 'backfill', state: 'done' })).toHaveLength(6)
  expect(await measured()).toEqual(['0', '1'])
  await app.switches.off('worker')
  await pass(hour)
  await app.switches.on('worker')
  await pass(10_000)
  const [sum, count] = await measured()
  expect([Number(sum) > 1, count]).toEqual([true, '2'])
  metrics.close()
})
