import type { Client } from 'pg'
import type { Clock } from '../../../time/clock.js'
import type { Driver } from './driver.js'
import { isAway, isSilent } from './errors.js'

/** An answer that takes longer means that the connection is cut without either side knowing. Longer than any lock is waited for. */
const answerLimitMs = 8000

/** Short enough that whoever waits can try once more. */
const connectLimitMs = 4000

/** How long a connection may take to say goodbye. */
const endLimitMs = 1000

const int8 = 20

/** The connections of a store: a few, opened when they are needed and kept. None has any state between two uses. */
export class Connections {
  readonly #driver: Driver
  readonly #connectionString: string
  readonly #limit: number
  readonly #clock: Clock
  #free: Client[] = []
  readonly #waiting: (() => void)[] = []
  readonly #broken = new WeakSet<Client>()
  readonly #lives = new WeakMap<Client, string>()
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

  /** From now on, the server works on a statement of these connections only for so long. */
  limitStatements(ms: number): void {
    this.#statementMs = ms
  }

  /** Lends a connection; one that broke meanwhile, or that its user left in doubt, is not lent again. */
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

  /** Says that a connection is in a state that nobody knows, because of an error: it is ended rather than lent again. */
  giveUp(client: Client, error: unknown): void {
    this.#broken.add(client)
    this.#doubtFree(error)
  }

  /**
   * What tells one life of the server from another, as it was when the connection was opened: a restart or a crash of
   * the server begins a new one, and so does a standby that takes its place.
   */
  lifeOf(client: Client): string {
    return this.#lives.get(client) ?? ''
  }

  /** Ends the connections; those that are lent end when they come back. */
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
      const { rows } = await client.query<{ life: string }>(LIFE)
      this.#lives.set(client, rows[0]?.life ?? '')
    } catch (error) {
      void endConnection(client, this.#clock)
      throw error
    }
    return client
  }

  /** What silenced one has silenced those that did nothing meanwhile, and each would have to be waited for. */
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

// Statistics do not outlive a crash, after which the server may go on under the same first process; a copy of a server
// that was shut down in order has the same statistics, but another first process.
const LIFE = `select concat(pg_postmaster_start_time(), ' ', stats_reset) as life from pg_stat_bgwriter`

/** What all connections of a store have in common. */
export function connectionOptions(driver: Driver) {
  return {
    application_name: 'rota',
    connectionTimeoutMillis: connectLimitMs,
    query_timeout: answerLimitMs,
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

/** Ends a connection in order; one whose other side does not answer is dropped. */
export async function endConnection(client: Client, clock: Clock): Promise<void> {
  const cancel = clock.timer(endLimitMs, () => client.connection.stream.destroy())
  await client.end().catch(() => undefined)
  cancel()
}
