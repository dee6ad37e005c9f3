import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadApp } from '../../app/definitions/load-app.js'
import type { App } from '../../app/rota.js'

test('F4: every built-in type can be written in a config file', async () => {
  const app = await load(`
app: shop
store: 'sqlite:rota.db'
jobs: { load: { command: ['true'] } }
sensors:
  bucket: { type: s3, bucket: data, prefix: in/, every: 1m, job: load, enabled: false }
  directory: { type: files, glob: '*.csv', directory: in, dedupe: { by: key, for: 30d }, job: load }
  changed: { type: sql, query: 'select max(id) from orders', job: load, timezone: Europe/Berlin }
  rows: { type: sql-rows, table: orders, cursor: { value: updated_at, id: id }, job: load, pauseAfter: 9 }
  page: { type: http, url: 'https://example.com/ready', job: load, timeout: 5s, overlap: queue-all, enabled: false }
  orders: { type: webhook, secret: { env: CONFIG_SENSORS_SECRET }, job: load, enabled: false }
`)
  await app.start({ roles: { worker: false } })
  const sensors = await app.sensors.list()
  expect(sensors.map(({ name, type }) => [name, type])).toEqual([
    ['bucket', 's3'],
    ['changed', 'sql'],
    ['directory', 'files'],
    ['orders', 'webhook'],
    ['page', 'http'],
    ['rows', 'sql-rows'],
  ])
  expect(sensors.map(({ spec }) => spec)).toMatchObject([
    { everyMs: 60_000, timeoutMs: 60_000, timezone: 'UTC' },
    { everyMs: 30_000, timezone: 'Europe/Berlin' },
    { dedupeBy: 'key', dedupeMs: 30 * 86_400_000 },
    {},
    { timeoutMs: 5000 },
    { pauseAfter: 9 },
  ])
})

test('F4: all faults of all sensors are reported with their places', async () => {
  await expect(
    load(`
app: shop
jobs: { load: { command: ['true'] } }
sensors:
  one:
    type: s4
    job: load
  two: { type: files, glob: 7, job: load, every: soon, pauseAfter: 0 }
  three: { type: http, url: 'https://example.com', dedupe: { by: day }, overlap: skip }
`),
  ).rejects.toThrow(
    /rota\.config\.yaml:6:5: sensors\.one\.type: "s4" is not allowed; did you mean s3\?[^]*sensors\.two\.every[^]*sensors\.two\.pauseAfter[^]*sensors\.three\.job[^]*sensors\.three\.dedupe\.by[^]*sensors\.three\.overlap/,
  )
})

test('F4: faults in the settings of a type are reported with their places', async () => {
  await expect(
    load(`
app: shop
jobs: { load: { command: ['true'] } }
sensors:
  one: { type: files, job: load, globe: x }
  two: { type: webhook, job: load, secret: { env: NOBODY_SET_THIS } }
  three: { type: http, url: 'https://example.com', job: load, headers: { cookie: { environment: X } } }
`),
  ).rejects.toThrow(
    /sensors\.one\.globe: unknown option; did you mean glob\?[^]*sensors\.two: the variable NOBODY_SET_THIS is not set in this process[^]*sensors\.three\.headers\.cookie: it does not name a variable or a file/,
  )
})

test('headers and secrets may be references to a variable or a file', async () => {
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push([request.headers.authorization, request.headers['x-plain']])
    response.setHeader('content-type', 'application/json').end('{"ready":false}')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const app = await load(
    `
app: shop
store: 'memory:'
jobs: { load: { command: ['true'] } }
sensors:
  page:
    type: http
    url: http://127.0.0.1:${port}/
    headers: { authorization: { file: token, prefix: 'Bearer ' }, x-plain: plain }
    job: load
  orders: { type: webhook, secret: { file: hook }, job: load }
`,
    { token: 'abc123\n', hook: `whsec_${Buffer.alloc(24, 7).toString('base64')}\n` },
  )
  const polled = new Promise((resolve) =>
    app.on('sensor:polled', ({ sensor }) => sensor === 'page' && resolve(sensor)),
  )
  await app.start({ roles: { worker: false } })
  await polled
  expect(seen).toEqual([['Bearer abc123', 'plain']])
})

test('F10: a config in code may contain a custom sensor and a function', async () => {
  const directory = await aDirectory()
  const path = join(directory, 'rota.config.mjs')
  await writeFile(
    path,
    `export default {
      app: 'shop',
      store: 'memory:',
      sensors: {
        mine: {
          sensor: {
            init: () => ({ kind: 'ok', state: 0 }),
            poll: (state) => ({ kind: 'trigger', observations: [{ key: 'a', partition: 'p' }], state }),
          },
          onTrigger: (partition) => ({ partition }),
          runs: { queue: 'assets' },
          every: '1h',
        },
      },
    }`,
  )
  const app = await loadApp(path, { directory })
  onTestFinished(() => app.stop({ grace: 0 }))
  const ended = new Promise((resolve) => app.on('run:ended', resolve))
  await app.start()
  expect(await ended).toMatchObject({ trigger: 'mine', result: { partition: 'p' } })
})

async function load(text: string, files: Readonly<Record<string, string>> = {}): Promise<App> {
  const directory = await aDirectory()
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
  const path = join(directory, 'rota.config.yaml')
  await writeFile(path, text)
  process.env['CONFIG_SENSORS_SECRET'] = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const app = await loadApp(path, { directory })
  onTestFinished(() => app.stop({ grace: 0 }))
  return app
}

async function aDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-config-sensors-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}
