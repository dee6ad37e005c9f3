import type { Client } from 'pg'
import { systemClock, type Clock } from '../../../../time/clock.js'
import { databaseKindOf, type SqlDatabaseConfig } from './database.js'
import { loadPg } from './postgres.js'

/** Calls `hint` at every notification on the channel; returns the function that stops it. */
export function watchChannel(hint: () => void, { url, listen }: SqlDatabaseConfig): () => void {
  const address = listen?.url ?? url
  if (listen === undefined || address === undefined || databaseKindOf(address) !== 'postgres') {
    return () => undefined
  }
  const listener = new Listener({ url: address, channel: listen.channel, hint, clock: systemClock })
  listener.start()
  return () => listener.stop()
}

/** The options of a listener. */
export interface ListenerOptions {
  readonly url: string
  readonly channel: string
  readonly hint: () => void
  readonly clock: Clock
}

/**
 * A connection that only listens, and reconnects when it breaks: after one second, then twice as long each time, up to
 * half a minute. Notifications are lost meanwhile, so each new connection is a hint as well. It never keeps a
 * process alive.
 */
export class Listener {
  readonly #options: ListenerOptions
  #client: Client | undefined
  #cancelRetry: (() => void) | undefined
  #failures = 0
  #isStopped = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  start(): void {
    void this.#connect()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelRetry?.()
    void this.#client?.end().catch(() => undefined)
    this.#client = undefined
  }

  async #connect(): Promise<void> {
    let client: Client | undefined
    try {
      const driver = await loadPg()
      if (this.#isStopped) return
      client = this.#newClient(driver)
      this.#client = client
      await client.connect()
      client.unref()
      await client.query(`listen ${client.escapeIdentifier(this.#options.channel)}`)
      this.#failures = 0
      if (!this.#isStopped) this.#options.hint()
    } catch {
      // The next poll reports that the database cannot be reached.
      this.#retry(client)
    }
  }

  #newClient({ Client }: Awaited<ReturnType<typeof loadPg>>): Client {
    const client = new Client({
      connectionString: this.#options.url,
      application_name: 'rota listener',
      connectionTimeoutMillis: connectLimitMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    client.on('notification', () => this.#options.hint())
    client.on('error', () => this.#retry(client))
    client.on('end', () => this.#retry(client))
    client.unref()
    return client
  }

  /** The end of a connection causes several events, and only the first counts. */
  #retry(client: Client | undefined): void {
    if (this.#isStopped || client !== this.#client) return
    this.#client = undefined
    void client?.end().catch(() => undefined)
    const waitMs = Math.min(firstWaitMs * 2 ** this.#failures, longestWaitMs)
    this.#failures += 1
    this.#cancelRetry = this.#options.clock.timer(waitMs, () => void this.#connect(), { isIdle: true })
  }
}

const connectLimitMs = 10_000
const keepAliveMs = 30_000
const firstWaitMs = 1000
const longestWaitMs = 30_000
