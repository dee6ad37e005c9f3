/**
 * The outcome of transactions of this process, if the answer was lost or the server has restarted since.
 *
 * The server can tell by a transaction's number whether it was committed. After a crash, it assigns numbers again that never
 * reached the disk, and a promoted standby may assign numbers whose transactions were acknowledged elsewhere. So a number is
 * trusted only within one incarnation of the server. Later, "committed" may be about another transaction, while every other
 * answer still means that the transaction does not exist.
 */
import type { Client } from 'pg'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Connections } from '../connection/connections.js'
import { Database, type Statements } from '../connection/database.js'
import { isInFuture } from '../connection/errors.js'

/** Thrown if nobody can tell whether a transaction was committed. */
export class InDoubt extends Error {
  constructor(cause?: unknown) {
    super('the connection was lost during a commit; it is unknown whether the changes were stored', { cause })
  }
}

/** Remembers the last commit of this process, and asks for the outcome of commits. */
export class CommitStatus {
  readonly #connections: Connections
  readonly #statements: Statements
  readonly #url: string
  readonly #isDurable: boolean
  /** The last transaction that this process committed, and the incarnation of the server at that time. */
  #last: { readonly transaction: string; readonly incarnation: string } | undefined

  constructor(options: {
    connections: Connections
    statements: Statements
    url: string
    isDurable: boolean
  }) {
    this.#isDurable = options.isDurable
    this.#connections = options.connections
    this.#statements = options.statements
    this.#url = options.url
  }

  /** Notes a commit on this connection; a transaction that wrote nothing has no number. */
  committed(client: Client, transaction: string | null | undefined): void {
    // Without waiting for the disk, a crash may lose commits: that was accepted.
    if (transaction == null || !this.#isDurable) return
    this.#last = { transaction, incarnation: this.#connections.incarnationOf(client) }
  }

  /** The outcome of a transaction whose connection broke, asked on another connection. */
  async of(lost: Client, transaction: string): Promise<'committed' | 'gone' | 'in progress'> {
    const answer = await this.#connections.use(async (client) => {
      const outcome = await this.#ask(client, transaction)
      return {
        outcome,
        isSameServer: this.#connections.incarnationOf(client) === this.#connections.incarnationOf(lost),
      }
    })
    if (answer.outcome === 'committed' && !answer.isSameServer) throw new InDoubt()
    return answer.outcome ?? 'gone'
  }

  /** After a restart of the server, checks whether the last commit of this process still exists. */
  async recognise(client: Client): Promise<void> {
    const last = this.#last
    const incarnation = this.#connections.incarnationOf(client)
    if (last === undefined || last.incarnation === incarnation) return
    const outcome = await this.#ask(client, last.transaction)
    if (outcome === undefined || outcome === 'committed') {
      this.#last = { ...last, incarnation }
      return
    }
    // Processes that lost nothing of their own must notice it too.
    await new Database(client, this.#statements).change(GO_BACK)
    throw new RotaError(
      'STORE_WENT_BACK',
      `${this.#url} has lost what was committed: was a replica promoted that lacked it? Start with --accept-store to go on from here`,
    )
  }

  /** Undefined if the transaction is too old for the server to know. */
  async #ask(client: Client, transaction: string): Promise<'committed' | 'gone' | 'in progress' | undefined> {
    try {
      const status = await new Database(client, this.#statements).value(STATUS, transaction)
      if (status === undefined) return undefined
      return status === 'committed' || status === 'in progress' ? status : 'gone'
    } catch (error) {
      // The number is in the future: its transaction is lost, and the number is not assigned again yet.
      if (isInFuture(error)) return 'gone'
      throw error
    }
  }
}

// Relies on: primary key. So far back that heartbeats of processes which have not noticed cannot catch up.
const GO_BACK = `update rota.meta set epoch = epoch - 1000000000 where id = 1`

const STATUS = `select pg_xact_status($1::text::xid8)`
