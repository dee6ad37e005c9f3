import type { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../time/clock.js'
import { atomicityLaws, type Fault } from '../conformance/cases/atomicity.js'
import { aJob, aRun, Stage, t0 } from '../conformance/stage.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

atomicityLaws(withStage)

it('the cached definitions of one process are not used after a change by another', async () => {
  await withStage(async (stage, _fault, url) => {
    await stage.ready()
    await stage.enqueue([aRun('a'), aRun('b')])
    expect(await stage.claim('w', t0, { slots: 1 })).toHaveLength(1)
    const other = await openPostgresStore({ url, clock: systemClock })
    const queues = [{ name: 'default', concurrency: 1 }]
    await other.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues, now: t0 })
    expect(await stage.claim('w', t0)).toEqual([])
    await other.close()
  })
})

/** A row trigger of the database that fails for every row. */
class RowFault implements Fault {
  readonly #client: Client
  readonly #schema: string
  #table = ''

  constructor(client: Client, schema: string) {
    this.#client = client
    this.#schema = schema
  }

  async put(place: string, when = 'true'): Promise<void> {
    this.#table = `${this.#schema}.${place.split(' ').at(-1)}`
    const verb = place.split(' ')[0]
    await this.#client.query(`
      create or replace function ${this.#schema}.fault() returns trigger language plpgsql
        as $$ begin raise exception 'broken on purpose'; end $$;
      create trigger fault before ${verb} on ${this.#table} for each row
        when (${when}) execute function ${this.#schema}.fault()`)
  }

  async remove(): Promise<void> {
    if (this.#table !== '') await this.#client.query(`drop trigger if exists fault on ${this.#table}`)
    this.#table = ''
  }
}

async function withStage(prove: (stage: Stage, fault: Fault, url: string) => Promise<void>): Promise<void> {
  const opened = await stores.open()
  const fault = new RowFault(stores.client, opened.schema)
  try {
    await prove(new Stage(opened), fault, opened.url)
  } finally {
    await fault.remove()
    await opened.dispose()
  }
}
