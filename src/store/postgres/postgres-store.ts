/**
 * The Postgres store: one schema, many hosts. The states of a run's row and what changes them are the same as in the
 * SQLite store, and so are the names of the files.
 *
 * All writes go through commit loops (`commit-loop.ts`), which also describe how writers of different processes avoid
 * each other: one for recorded runs, logs and turns, one beside it for large claims, and one for everything else. A lease
 * is renewed by a separate statement, which waits for no other transaction. Readers use other connections: they see only
 * committed data.
 *
 * After a crash a transaction exists completely or not at all. The runs of a dead process stay running under its
 * worker; when the lease of that worker has expired, `expire` returns them and `turn` ends the attempt as lost. Results
 * are matched by run, attempt and state, so a late result finds no row.
 */
import { randomBytes } from 'node:crypto'
import { RotaError } from '../../kernel/definition/errors.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Clock } from '../../time/clock.js'
import type { Enqueued, Store } from '../port.js'
import type { Hint, News } from '../hint.js'
import type { StoreHealth } from '../store-health.js'
import { inPieces } from '../sql/in-pieces.js'
import { enqueueAll, type EnqueueRequest } from '../sql/runs/enqueue.js'
import type { Driver as VerbDriver } from '../sql/driver.js'
import { log } from '../sql/runs/logs.js'
import { auditedVerbs, storeVerbs } from '../sql/store-verbs.js'
import { perform } from '../sql/verb.js'
import { listenerOf, readAddress, type Address } from './connection/address.js'
import { DatabaseClock } from './connection/clock.js'
import { CommitStatus } from './commit/commit-status.js'
import { CommitLoop, type CommitLoopOptions } from './commit/commit-loop.js'
import { Connections } from './connection/connections.js'
import { Statements } from './connection/database.js'
import { loadDriver, type Driver } from './connection/driver.js'
import { health } from './health.js'
import { Notify } from './connection/notify.js'
import { OwnRuns } from './connection/own-runs.js'
import { openSchema } from './open.js'
import { oneCallEnqueue } from './commit/one-call.js'
import { Reader } from './connection/reader.js'
import { ProcessCache } from './commit/process-cache.js'
import type { Session } from './commit/session.js'
import { takeTurn, type Lanes } from './commit/lanes.js'
import { Watch } from './connection/watch.js'
import { beatLimitMs, heartbeat } from './heartbeat.js'

/** The options of a Postgres store. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?schema=rota`. */
  readonly url: string
  /** `full` survives a power loss at the server; `normal` may lose the last commits in one. Default: `full`. */
  readonly durability?: 'full' | 'normal' | undefined
  /** Whether a missing store is created; default: true. */
  readonly create?: boolean | undefined
  /** Used for waiting only; a clock that follows the database gets its time with every commit. */
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** What the ends of runs change; default: chains only. */
  readonly endEffects?: EndEffects | undefined
  /** Opens it for a process that only reads: with few connections, and this time limit of queries. */
  readonly readerMs?: number | undefined
}

/** The connections of a reader, besides its listener. */
const readerConnections = 2

/** Opens a Postgres store, and creates it if it is missing. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { clock, create = true, signal, readerMs } = options
  const address = readAddress(options.url)
  const driver = await loadDriver(address.url)
  const { schema, prepare, connectionString, url } = address
  const limit = readerMs === undefined ? address.connections : readerConnections
  const connections = new Connections({ driver, connectionString, limit, clock })
  const statements = new Statements({ schema, prepare })
  try {
    const { isPooled } = await openSchema({ connections, statements, url, create, clock, signal })
    if (isPooled) statements.notePooler()
    // Behind a pooler, a session setting would affect other clients.
    if (readerMs !== undefined && !isPooled) connections.limitStatements(readerMs)
    const opened = new OpenSchema({ ...options, driver, address, connections, statements, isPooled })
    await opened.readTime()
    return storeOf(opened)
  } catch (error) {
    await connections.close()
    throw error
  }
}

function storeOf(opened: OpenSchema): Store {
  const { loop, reader } = opened
  const store: Store = {
    ...storeVerbs(opened.driver),
    url: opened.url,
    commitsTurnsApart: true,
    audited: (record) => ({ ...store, ...auditedVerbs(opened.driver, record) }),
    enqueue: ({ runs, now }) =>
      inPieces(runs, (piece) => {
        const input = { runs: piece, now }
        const oneCall = oneCallEnqueue(input)
        return loop.commitAlike(enqueueTogether, { input, items: piece.length, isExclusive: false, oneCall })
      }),
    log: async (lines) => {
      await inPieces(lines, async (piece) => {
        const write = (session: Session): Promise<void> => perform(log(session, piece))
        await loop.commit(write, { items: piece.length, isExclusive: false, oneCall: { log: piece } })
        return []
      })
    },
    heartbeat: (request) =>
      reader.ask((session) => heartbeat(session, request), { answerMs: beatLimitMs(request) }),
    turn: (request) => takeTurn(opened.lanes, request),
    stamp: () => opened.stamp(),
    watch: (hint) => opened.watch(hint),
    health: (request) => opened.health(request.deep === true),
    epoch: () => opened.epoch(),
    close: () => opened.close(),
  }
  return store
}

function enqueueTogether(
  session: Session,
  requests: readonly EnqueueRequest[],
): Promise<readonly Enqueued[][]> {
  return perform(enqueueAll(session, requests))
}

/** The time limit of a deep check. */
const deepLookMs = 24 * 3_600_000

// Which transactions have ended: while this is the same, no row has changed. The renewal of a lease is one transaction,
// raises the epoch by one and changes nothing that a loop waits for. Relies on: primary key.
const SNAPSHOT = `select pg_current_snapshot()::text as snapshot, epoch,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as at from rota.meta where id = 1`

interface SnapshotRow {
  readonly snapshot: string
  readonly epoch: number
  readonly at: number
}

/** An epoch that was read so lately need not be read again. */
const lateMs = 5000

// Relies on: primary key.
const EPOCH = `select epoch from rota.meta where id = 1`

const TIME = `select (extract(epoch from clock_timestamp()) * 1000)::float8`

/** An open schema: its connections, the commit loops and the watch for other processes. */
class OpenSchema {
  readonly url: string
  readonly loop: CommitLoop
  readonly lanes: Lanes
  readonly reader: Reader
  readonly driver: VerbDriver = {
    // Separately from turns: in one transaction with these, a turn would need many statements instead of one.
    commit: (verb, options) => this.#apart.commit((session) => perform(verb(session)), options),
    read: (verb, { isSnapshot = false } = {}) =>
      isSnapshot
        ? this.reader.askTogether((session) => perform(verb(session)))
        : this.reader.ask((session) => perform(verb(session))),
  }
  readonly #clock: Clock
  readonly #connections: Connections
  readonly #statements: Statements
  readonly #watch: Watch
  readonly #notify: Notify
  readonly #apart: CommitLoop
  readonly #onTime: CommitLoopOptions['onTime']
  #epoch: { readonly epoch: number; readonly readMs: number } | undefined
  #closing: Promise<void> | undefined

  constructor(
    options: PostgresOptions & {
      driver: Driver
      address: Address
      connections: Connections
      statements: Statements
      isPooled: boolean
    },
  ) {
    const { clock, driver, address, connections, statements } = options
    this.url = address.url
    this.#clock = clock
    this.#connections = connections
    this.#statements = statements
    const own = randomBytes(8).toString('hex')
    const { url, schema } = address
    const channel = `rota:${schema}`
    const notify = new Notify({ connections, clock, channel, own })
    this.#notify = notify
    const ownRuns = new OwnRuns({ clock, tell: (news) => notify.send(news) })
    const connectionString = listenerOf(address, options.isPooled)
    this.#watch = new Watch({ driver, connectionString, channel, own, clock })
    const remembered = new ProcessCache(own, options.endEffects)
    const ended = (): RotaError | undefined => this.loop.ended
    const parts = { connections, statements, remembered, clock, url }
    this.reader = new Reader({ ...parts, ended, isLimited: options.readerMs !== undefined })
    this.#onTime = (reading) => {
      if (clock instanceof DatabaseClock) clock.observe(reading)
    }
    const isDurable = options.durability !== 'normal'
    const loopOptions = {
      ...parts,
      seed: own,
      isDurable,
      onTime: this.#onTime,
      status: new CommitStatus({ connections, statements, url, isDurable }),
      onBroken: (error: RotaError) => {
        for (const loop of this.#loops) loop.breakOff(error)
      },
      onNews: (news: News) => notify.send(news),
      onNewRuns: (runs: readonly string[]) => ownRuns.recorded(runs),
    }
    this.loop = new CommitLoop(loopOptions)
    this.lanes = { loop: this.loop, beside: new CommitLoop(loopOptions), remembered, ownRuns }
    this.#apart = new CommitLoop(loopOptions)
  }

  /** Sets the clock that follows the database, before it is read. */
  async readTime(): Promise<void> {
    const clock = this.#clock
    if (!(clock instanceof DatabaseClock)) return
    await this.reader.ask(async ({ db }) => {
      const beforeMs = clock.monotonicMs()
      const serverMs = (await db.value(TIME)) as number
      clock.observe({ serverMs, beforeMs, afterMs: clock.monotonicMs() })
    })
  }

  /** How many transactions are over that were no renewals of leases, and which ones go on. */
  async stamp(): Promise<string> {
    if (this.loop.ended !== undefined) throw this.loop.ended
    const beforeMs = this.#clock.monotonicMs()
    const row =
      (await this.#watch.ask<SnapshotRow>(this.#statements.text(SNAPSHOT))) ??
      (await this.reader.ask(({ db }) => db.get<SnapshotRow>(SNAPSHOT)))
    if (row === undefined) throw new Error('The store has lost the row that describes it')
    const afterMs = this.#clock.monotonicMs()
    this.#onTime({ serverMs: row.at, beforeMs, afterMs })
    this.#epoch = { epoch: row.epoch, readMs: afterMs }
    const [, next, open] = row.snapshot.split(':')
    return `${Number(next) - row.epoch} ${open}`
  }

  /** A stamp that was read lately has it as well. */
  async epoch(): Promise<number> {
    const { epoch, readMs } = this.#epoch ?? { epoch: 0, readMs: -Infinity }
    if (this.#clock.monotonicMs() - readMs < lateMs) return epoch
    return (await this.reader.ask(({ db }) => db.value(EPOCH))) as number
  }

  watch(hint: Hint): () => void {
    if (this.loop.ended !== undefined) throw this.loop.ended
    return this.#watch.add(hint)
  }

  health(isDeep: boolean): Promise<StoreHealth> {
    const { schema } = this.#statements
    const { isDeaf } = this.#watch
    const answerMs = isDeep ? deepLookMs : undefined
    return this.reader.ask((session) => health(session, { schema, isDeep, isDeaf }), { answerMs })
  }

  get #loops(): readonly CommitLoop[] {
    return [this.loop, this.lanes.beside, this.#apart]
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#watch.close()
    if (this.loop.ended === undefined)
      void this.loop.commit((session) => session.settle()).catch(() => undefined)
    const closed = new RotaError('STORE_CLOSED', `${this.url} was used after it was closed`)
    await Promise.all(this.#loops.map((loop) => loop.close(closed)))
    this.lanes.ownRuns.flush()
    await this.#notify.close()
    await this.#connections.close()
  }
}
