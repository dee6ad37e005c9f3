import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { Browser } from './chromium.js'
import { stores } from './served.js'

const from = (path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href)

/** A program with its own users, identified by a cookie. Rota is mounted at /ops/. */
const opening = `
import { rota } from ${from('dist/index.js')}
const app = rota({ app: 'shop', store: process.env.SHOP_STORE })
app.cron('greet', '*/2 * * * * *', () => 'hello')
await app.start()
const authorize = (request) =>
  (request.headers.get('cookie') ?? '').includes('user=ann') && { actor: 'ann', role: 'operate' }
const api = app.handler({ authorize })
`

const programs = {
  express: `${opening}
import express from ${from('node_modules/express/index.js')}
const server = express()
  .use(express.json())
  .get('/login', (_, response) => response.cookie('user', 'ann').send('welcome'))
  .use('/ops', (request, response, next) => void api.node(request, response, next))
  .listen(0, '127.0.0.1', () => console.log('port ' + server.address().port))
`,
  fastify: `${opening}
import Fastify from ${from('node_modules/fastify/fastify.js')}
const server = Fastify()
server.get('/login', (_, reply) => reply.header('set-cookie', 'user=ann; Path=/').send('welcome'))
server.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_, payload, done) => done(null, payload))
  scope.all('/ops/*', (request, reply) => {
    reply.hijack()
    void api.node(request.raw, reply.raw)
  })
})
console.log('port ' + new URL(await server.listen({ port: 0, host: '127.0.0.1' })).port)
`,
} as const

const places = stores.flatMap((store) =>
  Object.entries(programs).map(([name, text]) => ({ store, name, text })),
)

describe.each(places)('inside $name below /ops/, on $store', ({ store, name, text }) => {
  const directory = mkdtempSync(join(tmpdir(), `rota-${name}-`))
  let postgres: PostgresServer | undefined
  let child: ChildProcess
  const browser = new Browser()
  let port = ''

  beforeAll(async () => {
    postgres = store === 'postgres' ? await PostgresServer.start() : undefined
    const address = (await postgres?.createDatabase()) ?? 'sqlite:shop.db'
    writeFileSync(join(directory, 'server.mjs'), text)
    child = spawn(process.execPath, ['server.mjs'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], SHOP_STORE: address },
    })
    port = await new Promise((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        const found = /port (\d+)/.exec(chunk.toString())?.[1]
        if (found !== undefined) resolve(found)
      })
      child.on('exit', (code) => reject(new Error(`the program ended with ${code}`)))
    })
    await browser.start()
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    child.kill('SIGKILL')
    await postgres?.stop()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })

  it('the users of the program see live pages and have their role', async () => {
    const url = `http://127.0.0.1:${port}`
    const stranger = await browser.open(`${url}/ops/`)
    await stranger.getByRole('button', { name: 'Sign in' }).waitFor()
    await stranger.close()

    const page = await browser.open(`${url}/login`)
    await page.goto(`${url}/ops/#/triggers/greet`, { waitUntil: 'domcontentloaded' })
    await page.getByRole('heading', { name: 'greet' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('cell', { name: 'done' }).first().waitFor()

    await page.getByRole('button', { name: 'Pause…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('stocktaking')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('Paused greet.').waitFor()
    await page.getByRole('tab', { name: 'Holds' }).click()
    await page.getByRole('cell', { name: 'ann' }).waitFor()

    await page.goto(`${url}/ops/#/settings?tab=tokens`)
    await page.getByText('which knows its users').waitFor()
    expect(browser.troubles).toEqual([])
  }, 60_000)
})
