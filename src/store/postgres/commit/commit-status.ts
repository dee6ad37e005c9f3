/**
 * What became of the transactions of this process, where the server did not say so or has begun a new life since.
 *
 * The server knows by its number whether a transaction was committed. A crash ends that: numbers that never reached the
 * disk are given out again, and a standby that is promoted may give out numbers whose transactions were acknowledged
 * elsewhere. So the number is only believed within one life of the server; after it, "committed" may speak of somebody
 * else's, while everything else still means that the transaction is not there.
 */
import type { Client } from 'pg'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Connections } from '../connection/connections.js'
import { Database, type Statements } from '../connection/database.js'
import { isInFuture } from '../connection/errors.js'

/** Thrown where nobody can tell whether a transaction came to be. */
export class InDoubt extends Error {
  constructor(cause?: unknown) {
    super('the connection was lost in the middle of a commit; what it held is there or is not', { cause })
  }
}

/** Remembers the last commit of this process, and asks what became of commits. */
export class CommitStatus {
  readonly #connections: Connections
  readonly #statements: Statements
  readonly #url: string
  readonly #isLasting: boolean
  /** The last transaction that was committed here, and the life of the server in which that was. */
  #last: { readonly transaction: string; readonly life: string } | undefined

  constructor(options: {
    connections: Connections
    statements: Statements
    url: string
    isLasting: boolean
  }) {
    this.#isLasting = options.isLasting
    this.#connections = options.connections
    this.#statements = options.statements
    this.#url = options.url
  }

  /** A transaction was committed on this connection, which has a number if it wrote something. */
  committed(client: Client, transaction: string | null | undefined): void {
    // Whoever does not wait for the disk has accepted that a crash takes something away.
    if (transaction == null || !this.#isLasting) return
    this.#last = { transaction, life: this.#connections.lifeOf(client) }
  }

  /** What became of a transaction whose connection broke: asked on another one. */
  async of(lost: Client, transaction: string): Promise<'committed' | 'gone' | 'in progress'> {
    const answer = await this.#connections.use(async (client) => {
      const fate = await this.#ask(client, transaction)
      return { fate, isSameLife: this.#connections.lifeOf(client) === this.#connections.lifeOf(lost) }
    })
    if (answer.fate === 'committed' && !answer.isSameLife) throw new InDoubt()
    return answer.fate ?? 'gone'
  }

  /** Looks, in a new life of the server, whether what was committed here in the last one is still there. */
  async recognise(client: Client): Promise<void> {
    const last = this.#last
    const life = this.#connections.lifeOf(client)
    if (last === undefined || last.life === life) return
    const fate = await this.#ask(client, last.transaction)
    if (fate === undefined || fate === 'committed') {
      this.#last = { ...last, life }
      return
    }
    // Processes that lost nothing of their own have to notice it too.
    await new Database(client, this.#statements).change(GO_BACK)
    throw new RotaError(
      'STORE_WENT_BACK',
      `${this.#url} has lost what was committed: was a replica promoted that lacked it? Start with --accept-store to go on from here`,
    )
  }

  /** Nothing where the server has forgotten it: it keeps what is recent. */
  async #ask(client: Client, transaction: string): Promise<'committed' | 'gone' | 'in progress' | undefined> {
    try {
      const status = await new Database(client, this.#statements).value(STATUS, transaction)
      if (status === undefined) return undefined
      return status === 'committed' || status === 'in progress' ? status : 'gone'
    } catch (error) {
      // A number that is not reached yet: what had it is not there, and nobody has got it again.
      if (isInFuture(error)) return 'gone'
      throw error
    }
  }
}

// Relies on: primary key. So far back that processes which have not noticed cannot make up for it by going on.
const GO_BACK = `update rota.meta set epoch = epoch - 1000000000 where id = 1`

const STATUS = `select pg_xact_status($1::text::xid8)`
