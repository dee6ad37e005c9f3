import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { assetRoutes } from '../routes.js'

/** A served app with a daily asset, one that depends on it, and a finished backfill. */
async function stage() {
  const parts = testApp()
  const { app } = parts
  const partitions = { kind: 'daily' as const, start: '2025-12-01' }
  app.assets.define('raw_events', {
    partitions,
    materialize: ({ partition }) => {
      if (partition === '2025-12-02') throw new Error('no data')
    },
    retry: { attempts: 1 },
  })
  app.assets.define('report', { partitions, deps: ['raw_events'], materialize: () => 'ok', follow: 'manual' })
  await app.start()
  await app.assets.schedule('raw_events', { name: 'raw_events_daily', cron: '0 3 * * *' })
  const range = { from: '2025-12-01', to: '2025-12-02' }
  const { backfill } = await app.assets.backfill('raw_events', range)
  const runs = await app.runs.list({ job: 'raw_events' })
  await Promise.all(runs.map(({ id }) => app.runs.wait(id)))
  return { app, id: backfill?.id ?? '', ...(await serveApp(parts)) }
}

it('the routes of assets answer their examples', async () => {
  const { ask, id } = await stage()
  await checkExamples(ask, assetRoutes, { 'bf-1f2e3d4c': id })
})

it('every change of assets is audited, and none by a dry run', async () => {
  const { app, ask } = await stage()
  const schedule = '/assets/report/schedules/weekly'
  const cron = '0 3 * * 1'
  await checkChanges({ app, ask }, assetRoutes, {
    'POST /assets/{name}/materialize': {
      path: '/assets/report/materialize',
      body: { partition: '2025-12-01' },
      action: 'run.enqueue',
    },
    'PUT /assets/{name}/schedules/{schedule}': {
      path: schedule,
      body: { options: { cron } },
      action: 'asset.schedule',
    },
    'DELETE /assets/{name}/schedules/{schedule}': { path: schedule, action: 'asset.unschedule' },
    'POST /backfills': {
      path: '/backfills',
      body: { asset: 'report', partitions: ['2025-12-02'] },
      action: 'backfill.start',
    },
  })
})

it('assets show their dependencies and the states of their partitions', async () => {
  const { ask } = await stage()
  expect((await ask('GET', '/api/v1/assets')).body.items).toMatchObject([
    { name: 'raw_events', deps: [], schedules: [{ name: 'raw_events_daily' }] },
    { name: 'report', deps: [{ asset: 'raw_events' }] },
  ])
  const partitions = '/api/v1/assets/raw_events/partitions?from=2025-12-01&to=2025-12-03'
  expect((await ask('GET', partitions)).body.items).toMatchObject([
    { partition: '2025-12-01', state: 'done' },
    { partition: '2025-12-02', state: 'failed' },
    { partition: '2025-12-03', state: 'missing', doneAt: null },
  ])
  expect((await ask('GET', `${partitions}&state=failed`)).body.items).toHaveLength(1)
  const first = (await ask('GET', `${partitions}&limit=2`)).body
  expect(first).toMatchObject({ items: [{}, {}], next: '2025-12-02' })
  const rest = (await ask('GET', `${partitions}&limit=2&after=${first.next}`)).body
  expect(rest).toMatchObject({ items: [{ partition: '2025-12-03' }], next: null })
  const many = '/api/v1/assets/raw_events/partitions?from=2025-12-01&to=2199-12-01'
  const page = (await ask('GET', many)).body
  expect([page.items.length, page.next]).toEqual([1000, '2028-08-26'])
  expect((await ask('GET', `${partitions}&after=2024-01-01`)).status).toBe(422)
})

it('a backfill is planned, and started only as it was planned', async () => {
  const { ask, app } = await stage()
  const range = { asset: 'raw_events', from: '2025-12-02', to: '2025-12-05', only: 'missing-or-failed' }
  const { body: plan } = await ask('POST', '/api/v1/backfills/plan', { body: range })
  expect(plan).toMatchObject({ run: ['2025-12-02', '2025-12-03', '2025-12-04', '2025-12-05'], skip: [] })
  const { id } = await app.assets.materialize('raw_events', { partition: '2025-12-04' })
  await app.runs.wait(id)
  const start = (given: object) => ask('POST', '/api/v1/backfills', { body: { ...range, ...given } })
  const refused = await start({ plan: plan['plan'] })
  expect(refused).toMatchObject({ status: 409, body: { code: 'BACKFILL_CHANGED' } })
  const again = (await ask('POST', '/api/v1/backfills/plan', { body: range })).body
  const started = await start({ plan: again['plan'], concurrency: 1, reason: 'late data' })
  expect(started).toMatchObject({ status: 201, body: { backfill: { total: 3, state: 'started' } } })
})

it('a backfill is cancelled, but not by a dry run', async () => {
  const { ask, id } = await stage()
  const cancel = (body: object) => ask('POST', `/api/v1/backfills/${id}/cancel`, { body })
  expect((await cancel({ dryRun: true })).body).toMatchObject({ state: 'cancelled' })
  expect((await ask('GET', `/api/v1/backfills/${id}`)).body).toMatchObject({ state: 'started', done: 1 })
  expect((await cancel({})).status).toBe(200)
  expect((await ask('GET', `/api/v1/backfills/${id}`)).body).toMatchObject({ state: 'cancelled' })
})

it('a schedule of an asset is defined at run time and ended again', async () => {
  const { ask } = await stage()
  const path = '/api/v1/assets/report/schedules/report_weekly'
  const put = await ask('PUT', path, { body: { options: { cron: '0 3 * * 1', partition: 'previous' } } })
  expect(put).toMatchObject({ status: 200, body: { name: 'report_weekly' } })
  const names = async () =>
    (
      (await ask('GET', '/api/v1/assets/report')).body as unknown as { schedules: { name: string }[] }
    ).schedules.map(({ name }) => name)
  expect(await names()).toEqual(['report_weekly'])
  expect((await ask('DELETE', path, { body: { dryRun: true } })).body).toEqual({ removed: true })
  expect(await names()).toEqual(['report_weekly'])
  expect((await ask('DELETE', path, { body: {} })).body).toEqual({ removed: true })
  expect((await ask('DELETE', path, { body: {} })).body).toEqual({ removed: false })
})

it.each([
  ['GET', '/assets/raw_event', undefined, 404, /did you mean raw_events/],
  ['GET', '/assets/raw_event/partitions', undefined, 404, /did you mean raw_events/],
  ['GET', '/assets/raw_events/partitions?from=yesterday', undefined, 422, /yesterday/],
  ['POST', '/assets/raw_events/materialize', { partition: '2025-13-01' }, 422, /2025-13-01/],
  ['POST', '/assets/raw_event/materialize', {}, 404, /did you mean raw_events/],
  ['POST', '/backfills/plan', { asset: 'raw_events', from: '2025-12-01', to: '9999-01-01' }, 422, /calendar/],
  ['POST', '/backfills', { asset: 'raw_events', partitions: ['x'] }, 422, /x/],
  ['GET', '/backfills/bf-0', undefined, 404, /no backfill/],
  ['PUT', '/assets/raw_events/schedules/s', { options: { cron: '* * *' } }, 422, /cron/],
  ['PUT', '/assets/raw_event/schedules/s', { options: { cron: '0 3 * * *' } }, 404, /raw_events/],
])('%s %s refuses bad input %#', async (method, path, body, status, detail) => {
  const { ask } = await stage()
  const refused = await ask(method, `/api/v1${path}`, { body })
  expect(refused).toMatchObject({ status, body: { detail: expect.stringMatching(detail) as never } })
})
