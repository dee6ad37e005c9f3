import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { bulkRoutes } from '../routes.js'

/** A served app that performs nothing, with three pending runs and a started bulk. */
async function stage() {
  const parts = testApp()
  const { app } = parts
  app.job('greet', () => 'hello')
  for (const name of ['Ann', 'Bob', 'Eve']) await app.enqueue('greet', name, { delay: '1h' })
  const { bulk } = await app.bulk.start({ action: 'cancel', filter: 'job:greet', limit: 1 })
  return { app, ...(await serveApp(parts)), id: bulk?.id ?? '' }
}

it('the routes of bulk actions answer their examples', async () => {
  const { ask, id } = await stage()
  await checkExamples(ask, bulkRoutes, { '01k9w8m2v4abcdef': id })
})

it('every change of bulk actions is audited, and none by a dry run', async () => {
  const { app, ask, id } = await stage()
  await checkChanges({ app, ask }, bulkRoutes, {
    'POST /bulk': { path: '/bulk', body: { action: 'cancel', filter: 'job:greet' }, action: 'bulk.cancel' },
    'POST /bulk/{id}/abort': { path: `/bulk/${id}/abort`, action: 'bulk.abort' },
  })
})

it('an action is planned, started, performed, listed and aborted', async () => {
  const { ask, app, id } = await stage()
  const post = (body: object) => ask('POST', '/api/v1/bulk', { body })
  const request = { action: 'cancel', filter: 'job:greet', reason: 'wrong day' }
  const dry = await post({ ...request, dryRun: true })
  expect(dry.body).toMatchObject({ plan: { count: 3, capped: false, skipped: [] }, bulk: null })
  const begun = await post(request)
  expect(begun.body).toMatchObject({ bulk: { state: 'running', total: 3, left: 3, reason: 'wrong day' } })
  const own = (begun.body as unknown as { bulk: { id: string } }).bulk.id
  const aborted = await ask('POST', `/api/v1/bulk/${id}/abort`, { body: {} })
  expect(aborted.body).toMatchObject({ wasRunning: true, bulk: { id, state: 'aborted' } })
  await app.bulk.perform(own)
  expect((await ask('GET', `/api/v1/bulk/${own}`)).body).toMatchObject({ state: 'done', done: 3, left: 0 })
  const page = await ask('GET', '/api/v1/bulk?limit=1')
  expect(page.body).toMatchObject({ items: [{ id: own }], next: own })
  expect((await ask('GET', `/api/v1/bulk?limit=1&after=${own}`)).body).toMatchObject({
    items: [{ id }],
    next: null,
  })
})

it.each([
  [{ action: 'drop', filter: 'job:a' }, 422, /action/],
  [{ action: 'retry' }, 422, /neither a filter nor ids/],
  [{ action: 'retry', filter: 'sate:failed' }, 422, /character 1/],
  [{ action: 'retry', filter: 'job:a', limit: 10_001 }, 422, /limit/],
])('the request %j is refused', async (body, status, message) => {
  const { ask } = await stage()
  const refused = await ask('POST', '/api/v1/bulk', { body })
  expect(refused.status).toBe(status)
  expect(JSON.stringify(refused.body)).toMatch(message)
  expect((await ask('GET', '/api/v1/bulk/nothing')).status).toBe(404)
})
