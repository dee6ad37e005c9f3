import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { allRoutes } from '../src/app/serve/served.js'
import { createClient } from '../src/client/client.js'
import { rota } from '../src/index.js'
import { isWhole } from './features.js'
import { root } from './repository.js'

/** A client of an app that listens on a free port. */
async function stage() {
  const app = rota({ store: 'memory:' })
  onTestFinished(() => app.stop({ grace: 0 }))
  app.job('greet', () => 'hello')
  app.schedule('nightly', { job: 'greet', cron: '0 2 * * *' })
  await app.start()
  const { host, port } = await app.listen({ port: 0 })
  return { app, client: createClient({ url: `http://${host}:${port}` }) }
}

it.skipIf(!isWhole)(
  'the client reads from every group of routes, with the types of their answers',
  async () => {
    const { client } = await stage()
    const { id } = await client('POST /runs', { body: { job: 'greet', payload: { name: 'Ann' } } })
    const run = await client('GET /runs/{id}', { path: { id } })
    const { items: triggers, total } = await client('GET /triggers', { query: { order: 'next', limit: 5 } })
    const { items: next } = await client('GET /triggers/{name}/next', {
      path: { name: 'nightly' },
      query: { count: 2, zone: 'Europe/Berlin' },
    })
    expect([run.job, triggers.map(({ name }) => name), total.count, next.length]).toEqual([
      'greet',
      ['nightly'],
      1,
      2,
    ])
    const answers = {
      Jobs: (await client('GET /jobs')).items.map(({ name }) => name),
      Queues: (await client('GET /queues')).items.map(({ name }) => name),
      Holds: (await client('GET /switches')).items.map(({ name }) => name),
      Workers: (await client('GET /workers')).items.length,
      Explain: (await client('GET /coverage')).items.map(({ unexplainedCount }) => unexplainedCount),
      Rounds: (await client('GET /services')).items,
      Sensors: (await client('GET /sensors')).items,
      Assets: (await client('GET /assets')).items,
      Backfills: (await client('GET /backfills', { query: { limit: 5 } })).items,
      'Command jobs': (await client('GET /command-jobs')).items,
      Plans: (await client('GET /plans')).items,
      Audit: (await client('GET /audit', { query: { limit: 5 } })).items,
      Alerts: (await client('GET /alerts')).channels,
      Bulk: (await client('GET /bulk')).items,
      Calendars: (await client('GET /calendars')).items,
      Access: (await client('GET /session')).role,
      Live: typeof (await client('GET /pulse')).id,
    }
    expect(answers).toMatchObject({
      Jobs: ['greet'],
      Queues: ['default'],
      Holds: ['pipeline', 'scheduler', 'worker'],
      Workers: 1,
      Explain: [0],
      Access: 'admin',
      Live: 'string',
    })
    const routes = (await allRoutes({ isMounted: false })).filter(({ isPrivate }) => isPrivate !== true)
    const groups = new Set(routes.map(({ group }) => group))
    expect(
      [...groups].filter((group) => !['Runs', 'Triggers', ...Object.keys(answers)].includes(group)),
    ).toEqual([])
  },
)

it('the client has the operation of every public route', async () => {
  const routes = (await allRoutes({ isMounted: false })).filter(({ isPrivate }) => isPrivate !== true)
  const text = readFileSync(join(root, 'src/client/operations.ts'), 'utf8')
  const missing = routes.filter(({ method, path }) => !text.includes(`  readonly '${method} ${path}': {`))
  expect(missing).toEqual([])
})

it('the client has a few kilobytes, and types add nothing', () => {
  const code = readFileSync(join(root, 'dist/client/client.js'))
  expect(gzipSync(code).length).toBeLessThan(3000)
  expect(readFileSync(join(root, 'dist/client/client.js'), 'utf8')).not.toMatch(/^import /m)
})

it('a change that conflicts is an error with its code, its status and what to do', async () => {
  const { client } = await stage()
  const { id } = await client('POST /runs', { body: { job: 'greet' } })
  await expect.poll(async () => (await client('GET /runs/{id}', { path: { id } })).state).toBe('done')
  await expect(
    client('POST /runs/{id}/cancel', { path: { id }, body: { reason: 'late' } }),
  ).rejects.toMatchObject({
    status: 409,
    code: 'RUN_STATE',
    message: expect.stringContaining('done') as string,
  })
  await expect(client('GET /triggers/{name}', { path: { name: 'nightlie' } })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('did you mean nightly') as string,
  })
})
