import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkChanges, checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { planRoutes } from '../routes.js'

const plan = `schema_version: v1
timezone: UTC
entries:
  - { publish_at: '2099-01-05T09:00', pipeline_path: pipelines/publish.yaml }
  - { publish_at: '2020-01-05T09:00', pipeline_path: pipelines/publish.yaml }
`

/** A served app that names a plan with an entry to come and a missed one. */
async function stage() {
  const parts = testApp()
  const { app, directory } = parts
  mkdirSync(join(directory, 'pipelines'))
  const pipeline = 'steps:\n  - { id: say, run: [echo, hello] }\n'
  writeFileSync(join(directory, 'pipelines/publish.yaml'), pipeline)
  writeFileSync(join(directory, 'schedule_plan.yaml'), plan)
  writeFileSync(join(directory, 'secret.yaml'), 'password: hunter2')
  app.plans.add('schedule_plan.yaml')
  await app.start()
  const served = await serveApp(parts)
  const { entries } = (await served.ask('GET', '/api/v1/plans/schedule_plan.yaml')).body as unknown as {
    entries: { jobId: string; standing: string }[]
  }
  return { ...served, app, entries }
}

it('the routes of plans answer their examples', async () => {
  const { ask, entries } = await stage()
  await checkExamples(ask, planRoutes, { '96b0037ff184': entries[1]?.jobId ?? '' })
})

it('the process that answers reads also reads the plans that the app names, and no other file', async () => {
  const { app, ask } = await stage()
  const { port } = await app.listen({ port: 0 })
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/plans${path}`)
    return { status: response.status, body: await response.json() }
  }
  for (const path of ['', '/schedule_plan.yaml', '/secret.yaml']) {
    const { status, body } = await ask('GET', `/api/v1/plans${path}`)
    expect(await read(path)).toEqual({ status, body })
  }
  expect(await read('')).toMatchObject({ body: { items: [{ name: 'schedule_plan.yaml', isNamed: true }] } })
  expect(await read('/secret.yaml')).toMatchObject({ status: 404, body: { code: 'PLAN_UNKNOWN' } })
})

it('every change of plans is audited, and none by a dry run', async () => {
  const { app, ask, entries } = await stage()
  const path = `/plans/schedule_plan.yaml/entries/${entries[1]?.jobId}/enqueue`
  await checkChanges({ app, ask }, planRoutes, {
    'POST /plans/{plan}/entries/{id}/enqueue': { path, action: 'plan.enqueue' },
  })
})

it('a plan is listed and checked, and a missed entry is enqueued once', async () => {
  const { ask, entries } = await stage()
  expect((await ask('GET', '/api/v1/plans')).body.items).toEqual([
    { name: 'schedule_plan.yaml', isNamed: true, entries: 2, open: 1 },
  ])
  expect(entries).toMatchObject([{ standing: 'future' }, { standing: 'missed' }])
  const path = `/api/v1/plans/schedule_plan.yaml/entries/${entries[1]?.jobId}/enqueue`
  expect((await ask('POST', path, { body: { dryRun: true } })).body).toMatchObject({ outcome: 'enqueued' })
  expect((await ask('POST', path, { body: {} })).body).toMatchObject({ outcome: 'enqueued' })
  expect((await ask('POST', path, { body: {} })).body).toMatchObject({ outcome: 'already_enqueued' })
})

it.each([
  ['GET', '/plans/schedule_plans.yaml', undefined, /did you mean schedule_plan.yaml/],
  ['GET', '/plans/secret.yaml', undefined, /no plan is named/],
  ['GET', `/plans/${encodeURIComponent('../../../etc/passwd')}`, undefined, /no plan is named/],
  ['GET', `/plans/${encodeURIComponent('/etc/passwd')}/pass`, undefined, /no plan is named/],
  ['POST', '/plans/schedule_plan.yaml/entries/nobody/enqueue', {}, /no entry/],
])('%s %s reaches no other file or entry %#', async (method, path, body, detail) => {
  const { ask } = await stage()
  const refused = await ask(method, `/api/v1${path}`, { body })
  expect(refused).toMatchObject({ status: 404, body: { detail: expect.stringMatching(detail) as never } })
})
