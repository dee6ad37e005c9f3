import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota, start } from '../cli/rota.js'
import { freePort } from '../fixtures/machine.js'
import { PostgresServer } from '../fixtures/postgres.js'

let server: PostgresServer
let database: string

beforeAll(async () => {
  server = await PostgresServer.start()
  database = await server.createDatabase()
  const client = await server.connect(database)
  await client.query(`create role guest login password 'sesame'`)
})

afterAll(() => server.stop())

// A start waits for an unreachable server, without a limit unless one is given.
const commands = ['up --wait 1ms', 'runs', 'doctor']

/** Each of them has a password that must not be shown. */
const refusals: readonly [what: string, url: () => string | Promise<string>, says: RegExp][] = [
  ['a database that is not there', () => changed({ pathname: '/nowhere' }), /does not exist; create it with/],
  [
    'a wrong password',
    () => changed({ username: 'guest', password: 'sesame1' }),
    /refuses this user or password/,
  ],
  ['a role that is not there', () => changed({ username: 'nobody' }), /refuses this user or password/],
  [
    'a server that is not there',
    async () => `postgres://guest:sesame@127.0.0.1:${await freePort()}/shop`,
    /cannot be reached \(Postgres: connect ECONNREFUSED/,
  ],
  ['a sign that is not encoded', () => 'postgres://guest:ses%ame@localhost/shop', /percent-encoded/],
  ['a slash that is not encoded', () => 'postgres://guest:/sesame@localhost/shop', /percent-encoded/],
  ['a hash that is not encoded', () => 'postgres://guest:1#sesame@localhost/shop', /percent-encoded/],
  [
    'a listener that is nowhere',
    () => 'postgres://guest:sesame@localhost/shop?listen=guest:sesame@there',
    /listen is an address/,
  ],
  ['a scheme that is not one', () => 'postgre://guest:sesame@localhost/shop', /allowed: .*postgres:\/\//],
]

const cases = refusals.flatMap(([what, url, says]) =>
  commands.map((command) => ({ command, what, url, says })),
)

it.concurrent.each(cases)('rota $command refuses $what in one line without the password', async (given) => {
  await expectRefusal([...given.command.split(' '), '--store', await given.url()], given.says)
})

it.concurrent.each(commands)('rota %s says that the driver is missing', async (command) => {
  const hidden = `export const resolve = (name, context, next) => {
    if (name === 'pg') throw Object.assign(new Error('no pg'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(name, context) }`
  const hide = `import { register } from 'node:module'; register(${JSON.stringify(asModule(hidden))})`
  const env = { NODE_OPTIONS: `--import ${JSON.stringify(asModule(hide))}` }
  await expectRefusal(
    [...command.split(' '), '--store', changed({ password: 'sesame' })],
    /npm install pg/,
    env,
  )
})

it('rota up says which right is missing to create the schema; other commands say that there is no store', async () => {
  const store = changed({ username: 'guest', password: 'sesame' })
  await expectRefusal(['up', '--store', store], /create schema rota authorization guest/)
  await expectRefusal(['runs', '--store', store], /does not exist yet; `rota up` creates it/)
})

it('rota up and rota doctor show the address without any password', async () => {
  const client = await server.connect(database)
  await client.query('create schema shop authorization guest')
  const direct = changed({ username: 'guest', password: 'sesame' })
  const store = `${direct}&schema=shop&listen=${encodeURIComponent(direct)}`
  for (const more of [[], ['--json']]) {
    const up = start(['up', '--store', store, ...more])
    await up.said('postgres://guest@localhost')
    const { stdout, code } = await rota(['doctor', '--store', store, ...more])
    expect([stdout.includes('postgres://guest@localhost'), code]).toEqual([true, 0])
    up.child.kill('SIGTERM')
    const ended = await up.ended
    expect(stdout + ended.stdout + ended.stderr).not.toContain('sesame')
  }
})

async function expectRefusal(
  args: readonly string[],
  says: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code, stdout, stderr } = await rota(args, { env })
  expect(stderr).toMatch(/^error: [^\n]+ \[STORE_[A-Z_]+\]\n$/)
  expect(stderr).toMatch(says)
  expect(stdout + stderr).not.toMatch(/ses%?ame/)
  expect(code).toBe(3)
}

function changed(parts: { pathname?: string; username?: string; password?: string }): string {
  return Object.assign(new URL(database), parts).href
}

function asModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`
}
