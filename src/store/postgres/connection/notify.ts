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
  #isSending = false
  /** The content of the next notification. */
  #next: News | undefined

  constructor(options: { connections: Connections; clock: Clock; channel: string; own: string }) {
    this.#connections = options.connections
    this.#clock = options.clock
    this.#channel = `'${options.channel.replaceAll("'", "''")}'`
    this.#own = options.own
  }

  send(news: News): void {
    this.#next = joinNews(this.#next, news)
    if (this.#isSending) return
    this.#isSending = true
    void this.#send()
  }

  async #send(): Promise<void> {
    do {
      const payload = this.#next === 'runs' ? `${this.#own} runs` : this.#own
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
      await this.#clock.sleep(pauseMs)
    } while (this.#next !== undefined)
    this.#isSending = false
  }
}
