import { afterAll, beforeAll } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { conformance } from '../conformance/conformance.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

// Each query takes a round trip here, so there are fewer stories by default.
const told = Number(process.env['STORIES'] ?? 20)
const seed = process.env['SEED'] === undefined ? undefined : Number(process.env['SEED'])

conformance('Postgres', () => stores.open(), { stories: told, seed })
