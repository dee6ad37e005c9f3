import type { Client } from 'pg'
import type { Clock } from '../../time/clock.js'
import type { Driver } from './driver.js'
import { isAway } from './errors.js'

/** An answer that takes longer means that the connection is cut without either side knowing. */
const answerLimitMs = 10_000

const connectLimitMs = 5000

const int8 = 20

/** The connections of a store: a few, opened when they are needed and kept. None has any state between two uses. */
export class Connections {
  readonly #driver: Driver
  readonly #connectionString: string
  readonly #limit: number
  readonly #free: Client[] = []
  readonly #waiting: (() => void)[] = []
  readonly #broken = new WeakSet<Client>()
  #inUse = 0
  #isClosed = false

  constructor(options: { driver: Driver; connectionString: string; limit: number; clock: Clock }) {
    this.#driver = options.driver
    this.#connectionString = options.connectionString
    this.#limit = options.limit
  }

  /** Lends a connection; one that broke meanwhile, or that its user left in doubt, is not lent again. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#inUse >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#inUse++
    let client: Client | undefined
    try {
      client = this.#free.pop() ?? (await this.#connect())
      return await work(client)
    } catch (error) {
      if (client !== undefined && isAway(error)) this.#broken.add(client)
      throw error
    } finally {
      this.#inUse--
      if (client !== undefined) this.#takeBack(client)
      this.#waiting.shift()?.()
    }
  }

  /** Says that a connection is in a state that nobody knows: it is ended rather than lent again. */
  giveUp(client: Client): void {
    this.#broken.add(client)
  }

  /** Ends the connections; those that are lent end when they come back. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#free.splice(0).map((client) => client.end()))
  }

  async #connect(): Promise<Client> {
    const client = new this.#driver.Client({
      ...connectionOptions(this.#driver),
      connectionString: this.#connectionString,
      query_timeout: answerLimitMs,
      pipeline: true,
    })
    client.on('error', () => {
      this.#broken.add(client)
      const place = this.#free.indexOf(client)
      if (place !== -1) this.#free.splice(place, 1)
    })
    await client.connect()
    return client
  }

  #takeBack(client: Client): void {
    if (this.#isClosed || this.#broken.has(client)) void client.end().catch(() => undefined)
    else this.#free.push(client)
  }
}

/** What all connections of a store have in common. */
export function connectionOptions(driver: Driver) {
  return {
    application_name: 'rota',
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    types: {
      getTypeParser(oid: number, format?: string): (text: string) => unknown {
        // Instants and counts: none of them is beyond what a number holds exactly.
        return oid === int8 ? Number : driver.types.getTypeParser(oid, format)
      },
    },
  }
}
