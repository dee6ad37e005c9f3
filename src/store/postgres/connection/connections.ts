import type { Client } from 'pg'
import type { Clock } from '../../../time/clock.js'
import type { Driver } from './driver.js'
import { isAway, isSilent } from './errors.js'

/** If an answer takes longer, the connection counts as broken. Longer than any wait for a lock. */
const answerLimitMs = 8000

/** Short enough that a waiting caller can try again. */
const connectLimitMs = 4000

/** How long closing a connection may take. */
const endLimitMs = 1000

const int8 = 20

/** The connections of a store: a few, opened on demand and kept. None has any state between two uses. */
export class Connections {
  readonly #driver: Driver
  readonly #connectionString: string
  readonly #limit: number
  readonly #clock: Clock
  #free: Client[] = []
  readonly #waiting: (() => void)[] = []
  readonly #broken = new WeakSet<Client>()
  readonly #incarnations = new WeakMap<Client, string>()
  readonly #limited = new WeakSet<Client>()
  #inUse = 0
  #statementMs: number | undefined
  #isClosed = false

  constructor(options: { driver: Driver; connectionString: string; limit: number; clock: Clock }) {
    this.#driver = options.driver
    this.#connectionString = options.connectionString
    this.#limit = options.limit
    this.#clock = options.clock
  }

  /** Sets the time limit of statements on these connections. */
  limitStatements(ms: number): void {
    this.#statementMs = ms
  }

  /** Lends a connection; a broken one, or one in an unknown state, is not lent again. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    while (this.#inUse >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#inUse++
    let client: Client | undefined
    try {
      client = this.#free.pop() ?? (await this.#connect())
      if (this.#statementMs !== undefined && !this.#limited.has(client)) {
        await client.query(`set statement_timeout = ${this.#statementMs}`)
        this.#limited.add(client)
      }
      return await work(client)
    } catch (error) {
      if (client === undefined) this.#doubtFree(error)
      else if (isAway(error)) this.giveUp(client, error)
      throw error
    } finally {
      this.#inUse--
      if (client !== undefined) this.#returnClient(client)
      this.#waiting.shift()?.()
    }
  }

  /** Marks a connection as being in an unknown state after an error: it is closed instead of lent again. */
  giveUp(client: Client, error: unknown): void {
    this.#broken.add(client)
    this.#doubtFree(error)
  }

  /**
   * The incarnation of the server when the connection was opened: a restart or a crash of the server begins a new one,
   * and so does a standby that replaces it.
   */
  incarnationOf(client: Client): string {
    return this.#incarnations.get(client) ?? ''
  }

  /** Closes the connections; lent ones are closed when they are returned. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#endFree()
  }

  async #connect(): Promise<Client> {
    const client = new this.#driver.Client({
      ...connectionOptions(this.#driver),
      connectionString: this.#connectionString,
      pipeline: true,
    })
    client.on('error', () => {
      this.#broken.add(client)
      this.#free = this.#free.filter((free) => free !== client)
    })
    await client.connect()
    try {
      const { rows } = await client.query<{ incarnation: string }>(INCARNATION)
      this.#incarnations.set(client, rows[0]?.incarnation ?? '')
    } catch (error) {
      void endConnection(client, this.#clock)
      throw error
    }
    return client
  }

  /** If one connection got no answer, idle ones probably get none either, and each would cost the whole time limit. */
  #doubtFree(error: unknown): void {
    if (isSilent(error)) void this.#endFree()
  }

  #returnClient(client: Client): void {
    if (this.#isClosed || this.#broken.has(client)) void endConnection(client, this.#clock)
    else this.#free.push(client)
  }

  async #endFree(): Promise<void> {
    await Promise.all(this.#free.splice(0).map((client) => endConnection(client, this.#clock)))
  }
}

// A crash resets statistics but may keep the same postmaster; a copy of a server that was shut down cleanly has the
// same statistics, but another postmaster.
const INCARNATION = `select concat(pg_postmaster_start_time(), ' ', stats_reset) as incarnation from pg_stat_bgwriter`

/** The common options of all connections of a store. */
export function connectionOptions(driver: Driver) {
  return {
    application_name: 'rota',
    connectionTimeoutMillis: connectLimitMs,
    query_timeout: answerLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    types: {
      getTypeParser(oid: number, format?: string): (text: string) => unknown {
        // Instants and counts are always exact as a number.
        return oid === int8 ? Number : driver.types.getTypeParser(oid, format)
      },
    },
  }
}

/** Closes a connection; drops it if the server does not answer. */
export async function endConnection(client: Client, clock: Clock): Promise<void> {
  const cancel = clock.timer(endLimitMs, () => client.connection.stream.destroy())
  await client.end().catch(() => undefined)
  cancel()
}
