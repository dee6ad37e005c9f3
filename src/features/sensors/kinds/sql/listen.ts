import type { Client } from 'pg'
import { systemClock, type Clock } from '../../../../time/clock.js'
import { databaseOf, type SqlDatabaseConfig } from './database.js'
import { loadPg } from './driver.js'

/** Calls back at every notification on the channel of the settings, until the function that it gives is called. */
export function watchChannel(hint: () => void, { url, listen }: SqlDatabaseConfig): () => void {
  const address = listen?.url ?? url
  if (listen === undefined || address === undefined || databaseOf(address)?.kind !== 'postgres') {
    return () => undefined
  }
  const listener = new Listener({ url: address, channel: listen.channel, hint, clock: systemClock })
  listener.start()
  return () => listener.stop()
}

/** What a listener is given. */
export interface ListenerOptions {
  readonly url: string
  readonly channel: string
  readonly hint: () => void
  readonly clock: Clock
}

/**
 * A connection that only listens, made anew when it breaks: after a second, then after twice as long each time, up to
 * half a minute. What was notified meanwhile is lost, so that each new connection is a hint as well. It never keeps a
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
      // The poll behind it finds the same database away, and says so.
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

  /** An end is told in several ways, and only the first of them counts. */
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
