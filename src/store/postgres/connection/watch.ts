import type { Client } from 'pg'
import type { Clock } from '../../../time/clock.js'
import { newsOf, type Hint, type News } from '../../hint.js'
import { connectionOptions, endConnection } from './connections.js'
import type { Driver } from './driver.js'

/** How soon a lost listener tries again: doubled with every failure. */
const firstPauseMs = 100
const longestPauseMs = 5000

/** How often the connection is checked: without traffic a broken connection is not noticed. */
const askMs = 5000
const askLimitMs = 4000

/** The options of a watch. */
export interface WatchOptions {
  readonly driver: Driver
  /** The address of the server itself, since a transaction pooler forwards no notifications; absent: no listener. */
  readonly connectionString: string | undefined
  readonly channel: string
  /** The content of this process's own notifications, so that it does not wake itself. */
  readonly own: string
  readonly clock: Clock
}

/** Notifies watchers of commits by other processes. Listens only while there are watchers. */
export class Watch {
  readonly #options: WatchOptions
  readonly #hints = new Set<Hint>()
  #client: Client | undefined
  #isListening = false
  #cancelTimer: (() => void) | undefined
  #failures = 0
  #isClosed = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Whether notifications of other processes are not received. */
  get isDeaf(): boolean {
    return this.#options.connectionString === undefined
  }

  /** Calls back after commits of other processes; returns the function that stops it. */
  add(hint: Hint): () => void {
    // The same function may be added twice.
    const own: Hint = (news) => hint(news)
    this.#hints.add(own)
    if (this.#hints.size === 1) void this.#listen()
    return () => {
      this.#hints.delete(own)
      if (this.#hints.size === 0) void this.#end()
    }
  }

  /** Asks over the connection that listens, which also shows that the other end is there; undefined where there is none. */
  async ask<Row>(text: string): Promise<Row | undefined> {
    const client = this.#client
    if (client === undefined || !this.#isListening) return undefined
    try {
      const { rows } = await client.query<Row>({ text, query_timeout: askLimitMs })
      this.#askLater(client)
      return rows[0]
    } catch {
      this.#lost(client)
      return undefined
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#hints.clear()
    await this.#end()
  }

  async #listen(): Promise<void> {
    const { driver, connectionString, channel, own } = this.#options
    if (connectionString === undefined || this.#client !== undefined || this.#isClosed) return
    const client = new driver.Client({ ...connectionOptions(driver), connectionString })
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ payload }: { payload?: string }) => {
      const [from, news] = (payload ?? '').split(' ')
      if (from !== own) this.#tell(newsOf(news))
    })
    try {
      await client.connect()
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
      this.#failures = 0
      this.#isListening = true
      this.#askLater(client)
      // Commits before it listened, or while it did not, are never reported.
      this.#tell('anything')
    } catch {
      this.#lost(client)
    }
  }

  #askLater(client: Client): void {
    if (this.#client !== client) return
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.clock.timer(askMs, () => void this.ask('select 1'), { isIdle: true })
  }

  /** A hint may be late: without a connection the slow poll finds changes. */
  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#isListening = false
    this.#cancelTimer?.()
    void endConnection(client, this.#options.clock)
    if (this.#hints.size === 0 || this.#isClosed) return
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
    this.#cancelTimer = this.#options.clock.timer(pauseMs, () => void this.#listen(), { isIdle: true })
  }

  #tell(news: News): void {
    for (const hint of this.#hints) hint(news)
  }

  async #end(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const client = this.#client
    this.#client = undefined
    this.#isListening = false
    if (client !== undefined) await endConnection(client, this.#options.clock)
  }
}
