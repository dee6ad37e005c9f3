import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { roundRoutes } from '../routes.js'

/** A served app with a round that was started at run time and has been checked once. */
async function stage() {
  const parts = testApp()
  const { app } = parts
  app.job('crawl', () => 'ok')
  for (const name of ['report', 'scan', 'sweep']) app.job(name, () => 'ok')
  await app.start()
  await app.rounds.start('crawlers', { every: '1h', services: ['crawl', { job: 'report', every: '24h' }] })
  return { app, ...(await serveApp(parts)) }
}

it('the routes of rounds answer their examples', async () => {
  const { ask } = await stage()
  await checkExamples(ask, roundRoutes)
})

it('every change of rounds is audited, and none by a dry run', async () => {
  const { app, ask } = await stage()
  const body = { every: '1h', services: ['scan'] }
  await checkChanges({ app, ask }, roundRoutes, {
    'PUT /services/{name}/timing': {
      path: '/services/report/timing',
      body: { every: '12h' },
      action: 'service.timing',
    },
    'PUT /rounds/{name}': { path: '/rounds/fresh', body, action: 'round.start' },
    'POST /rounds/{name}/stop': { path: '/rounds/fresh/stop', action: 'round.stop' },
    'POST /rounds/{name}/start': { path: '/rounds/fresh/start', action: 'round.start' },
  })
})

it('a round is started, changed, stopped and restarted', async () => {
  const { ask } = await stage()
  const put = (body: object) => ask('PUT', '/api/v1/rounds/fresh', { body })
  expect(await put({ every: '2h', services: ['scan'], dryRun: true })).toMatchObject({
    status: 200,
    body: { round: null },
  })
  expect((await ask('GET', '/api/v1/rounds/fresh')).status).toBe(404)
  expect((await put({ every: '2h', services: ['scan'] })).body).toMatchObject({
    round: { name: 'fresh', intervalMs: 7_200_000, state: 'on', source: 'api' },
  })
  expect((await put({ services: ['scan', 'sweep'] })).body).toMatchObject({
    round: { intervalMs: 7_200_000, services: ['scan', 'sweep'] },
  })
  const sla = { finishedWithin: '20m', finishedBy: '07:30' }
  expect((await put({ sla })).status).toBe(200)
  expect((await ask('GET', '/api/v1/triggers/fresh')).body).toMatchObject({
    sla: { finishedWithinMs: 1_200_000, finishedBy: '07:30' },
  })
  const blackouts = [{ from: '2026-12-24', to: '2026-12-26', note: 'closed' }]
  expect((await put({ blackouts, timezone: 'Europe/Berlin' })).status).toBe(200)
  expect((await ask('GET', '/api/v1/triggers/fresh')).body).toMatchObject({
    schedule: { calendar: { timezone: 'Europe/Berlin' } },
  })
  expect(await put({ calendar: { exclude: 'nothing' } })).toMatchObject({ status: 422 })
  expect(await put({ sla: { madeBy: '07:30' } })).toMatchObject({ status: 422 })
  const stop = (body: object) => ask('POST', '/api/v1/rounds/fresh/stop', { body })
  expect((await stop({ dryRun: true })).body).toMatchObject({ stopped: false })
  expect((await ask('GET', '/api/v1/rounds/fresh')).body).toMatchObject({ state: 'on' })
  expect((await stop({})).body).toMatchObject({ stopped: true })
  const names = async (query: string) =>
    (await ask('GET', `/api/v1/rounds${query}`)).body.items.map(({ name }) => name)
  expect(await names('')).toEqual(['crawlers'])
  expect(await names('?all=true')).toEqual(['crawlers', 'fresh'])
  const started = await ask('POST', '/api/v1/rounds/fresh/start', { body: {} })
  expect(started.body).toMatchObject({ round: { state: 'on', services: ['scan', 'sweep'] } })
})

it('the interval of a service is set in all rounds, and not by a dry run', async () => {
  const { ask } = await stage()
  const set = (body: object) => ask('PUT', '/api/v1/services/report/timing', { body })
  expect((await set({ every: '12h', dryRun: true })).body).toMatchObject({ intervalSeconds: 43_200 })
  expect((await ask('GET', '/api/v1/services/report')).body).toMatchObject({ intervalSeconds: 86_400 })
  expect((await set({ every: '12h', reason: 'more often' })).status).toBe(200)
  expect((await ask('GET', '/api/v1/services/report')).body).toMatchObject({ intervalSeconds: 43_200 })
})

it.each([
  ['GET', '/rounds/crawler', undefined, 404, /did you mean crawlers/],
  ['PUT', '/rounds/fresh', { every: '1h', services: ['crwl'] }, 404, /did you mean crawl/],
  ['PUT', '/rounds/fresh', { every: 'soon', services: ['crawl'] }, 422, /every/],
  ['PUT', '/rounds/fresh', { every: '1h', services: [] }, 422, /services/],
  ['POST', '/rounds/nobody/start', {}, 404, /no round/],
  ['POST', '/rounds/nobody/stop', {}, 404, /no round/],
  ['GET', '/services/reprt', undefined, 404, /did you mean report/],
  ['PUT', '/services/report/timing', { every: '1ms' }, 422, /100ms/],
])('%s %s refuses bad input %#', async (method, path, body, status, detail) => {
  const { ask } = await stage()
  const refused = await ask(method, `/api/v1${path}`, { body })
  expect(refused).toMatchObject({ status, body: { detail: expect.stringMatching(detail) as never } })
})
