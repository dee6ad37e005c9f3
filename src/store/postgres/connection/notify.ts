import type { Clock } from '../../../time/clock.js'
import type { Connections } from './connections.js'

/** Notifications that follow each other faster than this are one. */
const pauseMs = 10

/** Tells other processes that something was committed: after the commit, and never more often than is of use. */
export class Notify {
  readonly #connections: Connections
  readonly #clock: Clock
  readonly #channel: string
  readonly #own: string
  #isSending = false
  /** What is to be told next, if anything. */
  #next: 'nothing' | 'runs' | 'anything' = 'nothing'

  constructor(options: { connections: Connections; clock: Clock; channel: string; own: string }) {
    this.#connections = options.connections
    this.#clock = options.clock
    this.#channel = `'${options.channel.replaceAll("'", "''")}'`
    this.#own = options.own
  }

  send(news?: 'runs'): void {
    if (this.#next !== 'anything') this.#next = news ?? 'anything'
    if (this.#isSending) return
    this.#isSending = true
    void this.#send()
  }

  async #send(): Promise<void> {
    do {
      const payload = this.#next === 'runs' ? `${this.#own} runs` : this.#own
      this.#next = 'nothing'
      try {
        await this.#connections.use((client) =>
          // Nobody waits for the disk because of a hint.
          client.query(
            `begin; set local synchronous_commit = off; select pg_notify(${this.#channel}, '${payload}'); commit`,
          ),
        )
      } catch {
        // Only a hint: whoever misses it finds out at the next slow poll.
      }
      await this.#clock.sleep(pauseMs)
    } while (this.#next !== 'nothing')
    this.#isSending = false
  }
}
