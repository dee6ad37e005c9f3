import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { commandJobRoutes } from '../routes.js'

/** A served app with a handler for all commands and a command job. */
async function stage() {
  const parts = testApp()
  const { app } = parts
  app.job('greet', () => 'hello')
  app.commands.handle(() => 'handled')
  await app.start()
  await app.commands.add({
    id: 'job_124',
    type: 'recurring',
    schedule: '0 9 * * *',
    command: 'greet',
    userId: 'u',
  })
  return { app, ...(await serveApp(parts)) }
}

it('the routes of command jobs answer their examples', async () => {
  const { ask } = await stage()
  await checkExamples(ask, commandJobRoutes)
})

it('every change of command jobs is audited, and none by a dry run', async () => {
  const { app, ask } = await stage()
  const over = new Promise<void>((resolve) => void app.on('run:ended', () => resolve()))
  await app.commands.add({
    id: 'over',
    type: 'oneshot',
    executeAt: new Date(app.now() + 1),
    command: 'greet',
  })
  await over
  const job = { type: 'oneshot', executeAt: '2099-01-05T09:00:00Z', command: 'greet' }
  const text =
    '{"id":"i","type":"oneshot","execute_at":"2099-01-05T09:00:00Z","command":"greet","user_id":"u"}'
  await checkChanges({ app, ask }, commandJobRoutes, {
    'POST /command-jobs': { path: '/command-jobs', body: { id: 'j', ...job }, action: 'command.add' },
    'POST /command-jobs/{id}/run': { path: '/command-jobs/job_124/run', action: 'trigger.run' },
    'DELETE /command-jobs/{id}': { path: '/command-jobs/j', action: 'command.remove' },
    'POST /command-jobs/import': {
      path: '/command-jobs/import',
      body: { text },
      action: 'command.import',
    },
    'POST /command-jobs/cleanup': { path: '/command-jobs/cleanup', action: 'command.cleanup' },
  })
})

it('a job is added, run and removed', async () => {
  const { ask, app } = await stage()
  const job = { id: 'j', type: 'oneshot', executeAt: '2099-01-05T09:00:00Z', command: 'greet' }
  const add = (given: object) => ask('POST', '/api/v1/command-jobs', { body: { ...job, ...given } })
  expect(await add({ dryRun: true })).toMatchObject({ status: 201, body: { id: 'j', state: 'scheduled' } })
  expect((await ask('GET', '/api/v1/command-jobs/j')).status).toBe(404)
  expect(await add({})).toMatchObject({ status: 201, body: { nextAt: '2099-01-05T09:00:00Z' } })
  expect(await add({})).toMatchObject({ status: 409, body: { code: 'DEFINITION_CONFLICT' } })
  const { body: run } = await ask('POST', '/api/v1/command-jobs/j/run', { body: {} })
  expect(await app.runs.wait(run['id'] ?? '')).toMatchObject({ state: 'done', result: 'hello' })
  const remove = (body: object) => ask('DELETE', '/api/v1/command-jobs/j', { body })
  expect((await remove({ dryRun: true })).status).toBe(200)
  expect((await remove({})).body).toMatchObject({ state: 'removed' })
  expect((await remove({})).status).toBe(404)
})

it('jobs are listed in pages, by id', async () => {
  const { ask, app } = await stage()
  for (const id of ['b', 'a', 'c'])
    await app.commands.add({ id, type: 'recurring', schedule: '0 9 * * *', command: 'greet' })
  const read = async (after: string) => (await ask('GET', `/api/v1/command-jobs?limit=2${after}`)).body
  const total = { count: 4, capped: false }
  expect(await read('')).toMatchObject({ items: [{ id: 'a' }, { id: 'b' }], next: 'b', total })
  expect(await read('&after=b')).toMatchObject({ items: [{ id: 'c' }, { id: 'job_124' }], next: null, total })
  expect((await ask('GET', '/api/v1/command-jobs?limit=501')).status).toBe(422)
})

it('an export can be imported, line by line', async () => {
  const { ask } = await stage()
  const { text } = (await ask('GET', '/api/v1/command-jobs/export')).body as unknown as { text: string }
  const lines = `${text}{"id":"new","type":"oneshot","execute_at":"2099-01-05T09:00:00Z","command":"greet","user_id":"u"}\n{`
  const send = (given: object) =>
    ask('POST', '/api/v1/command-jobs/import', { body: { text: lines, ...given } })
  const became = (answer: unknown) =>
    (answer as { items: { became: string }[] }).items.map(({ became: word }) => word)
  expect(became((await send({ dryRun: true })).body)).toEqual(['unchanged', 'added', 'faulty'])
  expect((await send({ strict: true })).status).toBe(422)
  expect((await ask('GET', '/api/v1/command-jobs/new')).status).toBe(404)
  expect(became((await send({})).body)).toEqual(['unchanged', 'added', 'faulty'])
  expect((await ask('GET', '/api/v1/command-jobs/new')).status).toBe(200)
})

it.each([
  ['GET', '/command-jobs/job_125', undefined, 404, /job_12/],
  ['POST', '/command-jobs', { type: 'recurring', command: 'greet' }, 422, /schedule/],
  ['POST', '/command-jobs', { type: 'recurring', schedule: '99 * * * *', command: 'greet' }, 422, /99/],
  ['POST', '/command-jobs', { type: 'oneshot', executeAt: 'soon', command: 'greet' }, 422, /soon/],
  ['POST', '/command-jobs/nobody/run', {}, 404, /nobody/],
  ['DELETE', '/command-jobs/nobody', {}, 404, /nobody/],
])('%s %s refuses bad input %#', async (method, path, body, status, detail) => {
  const { ask } = await stage()
  const refused = await ask(method, `/api/v1${path}`, { body })
  expect(refused).toMatchObject({ status, body: { detail: expect.stringMatching(detail) as never } })
})
