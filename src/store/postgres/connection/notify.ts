import type { Clock } from '../../../time/clock.js'
import { joinNews, type News } from '../../hint.js'
import type { Connections } from './connections.js'

/** Notifications within this time are sent as one. */
const pauseMs = 10

/** Notifies other processes of commits: after the commit, and not more often than useful. */
export class Notify {
  readonly #connections: Connections
  readonly #clock: Clock
  readonly #channel: string
  readonly #own: string
  readonly #ending = new AbortController()
  #sending: Promise<void> | undefined
  /** The content of the next notification. */
  #next: News | undefined

  constructor(options: { connections: Connections; clock: Clock; channel: string; own: string }) {
    this.#connections = options.connections
    this.#clock = options.clock
    this.#channel = `'${options.channel.replaceAll("'", "''")}'`
    this.#own = options.own
  }

  send(news: News): void {
    if (this.#ending.signal.aborted) return
    this.#next = joinNews(this.#next, news)
    this.#sending ??= this.#send()
  }

  /** Sends what waits, and nothing more. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.#sending
  }

  async #send(): Promise<void> {
    do {
      const payload = this.#next === 'anything' ? this.#own : `${this.#own} ${this.#next}`
      this.#next = undefined
      try {
        await this.#connections.use((client) =>
          // A hint must not wait for the disk.
          client.query(
            `begin; set local synchronous_commit = off; select pg_notify(${this.#channel}, '${payload}'); commit`,
          ),
        )
      } catch {
        // Only a hint: a process that misses it notices the commit at its next slow poll.
      }
      await this.#clock.sleep(pauseMs, this.#ending.signal)
    } while (this.#next !== undefined)
    this.#sending = undefined
  }
}
