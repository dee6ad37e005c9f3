import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { aRun, Stage } from '../../conformance/stage.js'
import { Database, Statements } from './database.js'
import { isAway, LostStatement } from './errors.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it('a statement that is outdated since a newer version has added columns is performed over another connection', async () => {
  const opened = await stores.open()
  onTestFinished(() => opened.dispose())
  const { schema, url } = opened
  const statements = new Statements({ schema, prepare: 'auto' })
  const client = await server.connect(url)
  const ask = (by: Client): Promise<unknown> =>
    new Database(by, statements, { prepares: true }).all('select * from rota.holds')
  expect(await ask(client)).toEqual([])
  await stores.client.query(`alter table ${schema}.holds add column later integer`)
  const error = await ask(client).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LostStatement)
  expect(isAway(error)).toBe(true)
  expect(await ask(await server.connect(url))).toEqual([])
})

it('the statements of transactions are prepared, and queries are not', async () => {
  const opened = await stores.open()
  onTestFinished(() => opened.dispose())
  const stage = new Stage(opened)
  const query = vi.spyOn(Client.prototype, 'query')
  onTestFinished(() => query.mockRestore())
  await stage.enqueue([aRun('one')])
  await opened.store.runs({ limit: 1 })
  const sent = query.mock.calls.map(([one]) => one as { text?: string; name?: string })
  const nameOf = (part: string): string | undefined => sent.find(({ text }) => text?.includes(part))?.name
  expect(nameOf('commit_work')).toMatch(/^rota_[0-9a-f]{24}$/)
  expect(sent.some(({ text }) => text?.includes('order by') === true)).toBe(true)
  expect(nameOf('order by')).toBeUndefined()
})

describe('a server that has lost a prepared statement', () => {
  const lost = Object.assign(new Error('prepared statement "rota_1" does not exist'), { code: '26000' })

  it('gets statements that are not prepared, over another connection', () => {
    const statements = new Statements({ schema: 'rota', prepare: 'auto' })
    expect(statements.isPrepared).toBe(true)
    expect(isAway(statements.errorOf(lost))).toBe(true)
    expect(statements.isPrepared).toBe(false)
  })

  it('gets the transaction again, and its caller notices nothing', async () => {
    const opened = await stores.open()
    onTestFinished(() => opened.dispose())
    const send = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown
    const names: (string | undefined)[] = []
    const query = vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given) {
      const one = given[0] as unknown as { text?: string; name?: string }
      if (one.text?.includes('commit_work') === true) names.push(one.name)
      return (one.name === undefined ? send.apply(this, given) : Promise.reject(lost)) as never
    })
    onTestFinished(() => query.mockRestore())
    const stage = new Stage(opened)
    await stage.enqueue([aRun('one')])
    await stage.enqueue([aRun('two')])
    expect(names.map((name) => name !== undefined)).toEqual([true, false, false])
    expect(await stage.states([aRun('one'), aRun('two')])).toEqual(['pending', 'pending'])
  })

  it('is reported to nobody, however many transactions notice it', () => {
    const statements = new Statements({ schema: 'rota', prepare: 'auto' })
    for (let n = 0; n < 2; n++) expect(isAway(statements.errorOf(lost))).toBe(true)
  })

  it('is reported if the address asks for prepared statements', () => {
    const statements = new Statements({ schema: 'rota', prepare: 'on' })
    expect(statements.errorOf(lost)).toBe(lost)
    expect(statements.isPrepared).toBe(true)
  })
})
