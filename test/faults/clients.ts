import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { rota } from '../../src/index.js'
import type { SeededRandom } from '../../src/testing/random.js'
import type { Asked } from './judge.js'

/** Clients that enqueue: some with the library, some in their own transaction together with their own row. */
export class Clients {
  readonly #store: string
  readonly #database: string
  readonly #random: SeededRandom
  readonly #acknowledged: string[] = []
  readonly #rolledBack: number[] = []
  readonly #end = new AbortController()
  #working: readonly Promise<void>[] = []
  #count = 0
  /** How many calls were refused. */
  refused = 0

  constructor(options: { store: string; database: string; random: SeededRandom }) {
    this.#store = options.store
    this.#database = options.database
    this.#random = options.random
  }

  async start(): Promise<void> {
    const client = await connected(this.#database)
    await client.query('create table orders (id int primary key)')
    await client.end()
    this.#working = [this.#enqueue(), this.#order()]
  }

  /** Stops them; returns what they did. */
  async stop(): Promise<Asked> {
    this.#end.abort()
    await Promise.all(this.#working)
    const client = await connected(this.#database)
    const { rows } = await client.query<{ id: number }>('select id from orders')
    await client.end()
    const ordered = rows.map(({ id }) => id)
    return { acknowledged: this.#acknowledged, rolledBack: this.#rolledBack, ordered }
  }

  async #enqueue(): Promise<void> {
    const app = rota({ store: this.#store, app: 'faults-client' })
    while (!this.#end.signal.aborted) {
      const job = this.#random.pick(['work', 'loose', 'narrow'])
      const number = ++this.#count
      const uniqueKey = this.#random.chance(0.2) ? `key${this.#random.int(1, 3)}` : undefined
      const fails = this.#random.chance(0.05)
      try {
        const { id } = await app.enqueue(job, { number, fails }, { uniqueKey })
        this.#acknowledged.push(id)
      } catch (error) {
        this.#forgive(error)
      }
      await wait(40)
    }
    await app.close()
  }

  /** An order and its run, both or neither. */
  async #order(): Promise<void> {
    const app = rota({ store: this.#store, app: 'faults-client' })
    let client: Client | undefined
    for (let order = 0; !this.#end.signal.aborted; order++) {
      try {
        client ??= await connected(this.#database)
        await client.query('begin')
        await client.query('insert into orders values ($1)', [order])
        await app.enqueue('work', { order }, { tx: client })
        if (this.#random.chance(0.3)) {
          // Recorded before the rollback: whether it reaches the server or not, nothing is committed.
          this.#rolledBack.push(order)
          await client.query('rollback')
        } else {
          await client.query('commit')
        }
      } catch (error) {
        this.#forgive(error)
        void client?.end().catch(() => undefined)
        client = undefined
      }
      await wait(80)
    }
    await client?.end().catch(() => undefined)
    await app.close()
  }

  /** Refusals are expected; other errors are not. */
  #forgive(error: unknown): void {
    this.refused += 1
    const { code = '', message = '' } = error as { code?: string; message?: string }
    const isRefused = ['STORE_AWAY', 'STORE_BUSY'].includes(code) || message.includes('no job is named')
    // Errors of the system, of the server, and of the driver, which has no codes.
    const isCut = /^(?:E[A-Z]+|57P..|08...|25P03)$/.test(code)
    if (isRefused || isCut || /terminated|timeout|closed|not queryable/.test(message)) return
    throw error
  }
}

async function connected(database: string): Promise<Client> {
  const client = new Client({
    connectionString: database,
    connectionTimeoutMillis: 4000,
    query_timeout: 8000,
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}
