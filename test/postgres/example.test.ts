import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../fixtures/postgres.js'
import { root } from '../repository.js'

let server: PostgresServer
let directory: string

beforeAll(async () => {
  server = await PostgresServer.start()
  directory = mkdtempSync(join(tmpdir(), 'rota-outbox-'))
})

afterAll(async () => {
  rmSync(directory, { recursive: true })
  await server.stop()
})

it('examples/postgres/outbox.mjs sends a mail for every accepted order, and for no other', async () => {
  const { code, output } = await run('outbox', await server.createDatabase())
  expect(output.trim().split('\n').toSorted()).toEqual([
    'all mails are out',
    'mail about order 1',
    'mail about order 3',
    'mail about order 4',
    'order 2 was refused: orders_sum_check',
  ])
  expect(code).toBe(0)
})

it('examples/postgres/shards.mjs assigns a customer always to the same shard, and bills each once', async () => {
  const { code, output } = await run('shards', await server.createDatabase())
  expect(output.trim().split('\n').toSorted()).toEqual([
    'shard 0 bills bob',
    'shard 1 bills ann',
    'shard 1 bills cy',
    'three customers are billed, each once',
  ])
  expect(code).toBe(0)
})

function run(name: string, database: string): Promise<{ code: number | null; output: string }> {
  const { NODE_OPTIONS: _, ...environment } = process.env
  const env = { ...environment, XDG_STATE_HOME: directory, DATABASE_URL: database }
  const child = spawn(process.execPath, [join(root, `examples/postgres/${name}.mjs`)], { env })
  return new Promise((resolve) => {
    let output = ''
    child.stdout.on('data', (data: Buffer) => (output += data.toString()))
    child.stderr.on('data', (data: Buffer) => (output += data.toString()))
    child.on('close', (code) => resolve({ code, output }))
  })
}
