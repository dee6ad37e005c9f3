import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota, type Running, start } from '../cli/rota.js'
import { PostgresServer } from '../fixtures/postgres.js'

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.stop())

const nowhere = 'postgres://nobody@localhost:5432/nothing?host=%2Fnonexistent'

it('`rota up` says that it waits for an unreachable server, continues when it is back, and stops on a signal', async () => {
  const store = await server.createDatabase()
  const waiting = await new Promise<Running>((resolve, reject) => {
    const meanwhile = async (): Promise<void> => {
      const [up, other] = [start(['up', '--store', store]), start(['up', '--json', '--store', nowhere])]
      expect(await up.said('STORE_AWAY')).toContain('waiting for the store')
      await other.said('"waiting"')
      other.child.kill('SIGTERM')
      expect((await other.ended).code).toBe(0)
      resolve(up)
    }
    server.restart(meanwhile).catch(reject)
  })
  await waiting.said('rota is up')
  waiting.child.kill('SIGTERM')
  expect((await waiting.ended).code).toBe(0)
})

it('`rota up --wait` limits the wait; errors that waiting cannot fix end it immediately', async () => {
  const bounded = await rota(['up', '--wait', '1ms', '--store', nowhere])
  expect(bounded).toMatchObject({ code: 3, stderr: expect.stringContaining('STORE_AWAY') as unknown })
  const unknown = await rota(['up', '--store', server.url('unknown')])
  expect(unknown).toMatchObject({ code: 3, stdout: '' })
  expect(unknown.stderr).toContain('STORE_URL')
  const wrong = await rota(['up', '--wait', 'soon', '--store', nowhere])
  expect(wrong.code).toBe(2)
})
