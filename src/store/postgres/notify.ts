import type { Clock } from '../../time/clock.js'
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
  #isAgain = false

  constructor(options: { connections: Connections; clock: Clock; channel: string; own: string }) {
    this.#connections = options.connections
    this.#clock = options.clock
    this.#channel = `'${options.channel.replaceAll("'", "''")}'`
    this.#own = options.own
  }

  send(): void {
    if (this.#isSending) {
      this.#isAgain = true
      return
    }
    this.#isSending = true
    void this.#send()
  }

  async #send(): Promise<void> {
    do {
      this.#isAgain = false
      try {
        await this.#connections.use((client) =>
          // Nobody waits for the disk because of a hint.
          client.query(
            `begin; set local synchronous_commit = off; select pg_notify(${this.#channel}, '${this.#own}'); commit`,
          ),
        )
      } catch {
        // Only a hint: whoever misses it finds out at the next slow poll.
      }
      await this.#clock.sleep(pauseMs)
    } while (this.#isAgain)
    this.#isSending = false
  }
}
