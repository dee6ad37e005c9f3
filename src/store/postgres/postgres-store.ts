/**
 * The Postgres store: one schema, many hosts. The states of a run's row and who moves them are those of the SQLite
 * store, and so are the names of the files.
 *
 * Everything that writes goes through one commit loop (`commit-loop.ts`), which also says how writers of different
 * processes keep out of each other's way. A lease is renewed by one statement of its own, which waits for nobody.
 * Readers use other connections: what was committed they see, and nothing else.
 *
 * What a crash does: a transaction is there or it is not. A process that dies holding runs leaves them running under
 * its worker; once that worker's lease is over, `expire` gives them out and `turn` ends the attempt as lost. The
 * fence is run, attempt and state, so what a zombie reports later finds no row.
 */
import { randomBytes } from 'node:crypto'
import { RotaError } from '../../kernel/definition/errors.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Fact } from '../../kernel/run/fact.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { LogLine, NewRun, Run } from '../../kernel/run/run.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type {
  DefineJobs,
  DefineTrigger,
  Expiry,
  Hint,
  RunFilter,
  Store,
  TriggerFilter,
  Turn,
  WorkerEntry,
} from '../port.js'
import { inPieces, itemsPerCommit } from '../sql/in-pieces.js'
import { listenerOf, readAddress, type Address } from './address.js'
import { advance, cancel, retry } from './cancel.js'
import { DatabaseClock } from './clock.js'
import { CommitLoop } from './commit-loop.js'
import { Connections } from './connections.js'
import { Statements } from './database.js'
import { defineTriggers } from './define.js'
import { defineJobs, removeJobs } from './define-jobs.js'
import { loadDriver, type Driver } from './driver.js'
import { due, dueByName, nextTickAt } from './due.js'
import { enqueueAll, isPlain } from './enqueue.js'
import { expire } from './expire.js'
import { facts } from './facts.js'
import { health } from './health.js'
import { hold, holds, release } from './holds.js'
import { ledger } from './ledger.js'
import { listRuns } from './list-runs.js'
import { log, logs } from './logs.js'
import { changeState, notes } from './state.js'
import { Notify } from './notify.js'
import { openSchema } from './open.js'
import { plainEnqueue } from './plain.js'
import { prune } from './prune.js'
import { fingerprints, jobs, queues, triggers, versions } from './read-definitions.js'
import { attempts, counts, run, runInstants, runsByPrefix } from './read-runs.js'
import { Reader } from './reader.js'
import { ProcessCache } from './process-cache.js'
import { forgetSeen, seen } from './seen.js'
import type { Session } from './session.js'
import { takeFacts } from './take-facts.js'
import { takeTurn, type Lanes } from './lanes.js'
import { tick } from './tick.js'
import { settle } from './turn.js'
import { Watch } from './watch.js'
import { beatLimitMs, drain, heartbeat, register, retire, signsOf, workers } from './workers.js'

/** How a Postgres store is opened. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?schema=rota`. */
  readonly url: string
  /** `full` (the default) survives a loss of power at the server; `normal` may lose the last commits in one. */
  readonly durability?: 'full' | 'normal' | undefined
  /** Whether a store that does not exist is made; it is unless this is false. */
  readonly create?: boolean | undefined
  /** Used to wait, never for facts; one that follows the database is told its time with every commit. */
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** What the ends of runs change; default: chains only. */
  readonly endEffects?: EndEffects | undefined
}

/** Opens a Postgres store, and makes it where there is none. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { clock, create = true, signal } = options
  const address = readAddress(options.url)
  const driver = await loadDriver(address.url)
  const { schema, prepare, connectionString, url } = address
  const connections = new Connections({ driver, connectionString, limit: address.connections, clock })
  const statements = new Statements({ schema, prepare })
  try {
    const { isPooled } = await openSchema({ connections, statements, url, create, clock, signal })
    const store = new PostgresStore({ ...options, driver, address, connections, statements, isPooled })
    await store.readTime()
    return store
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** How long a look for damage everywhere may take. */
const deepLookMs = 24 * 3_600_000

const TIME = `select (extract(epoch from clock_timestamp()) * 1000)::float8`

class PostgresStore implements Store {
  readonly url: string
  readonly #clock: Clock
  readonly #connections: Connections
  readonly #statements: Statements
  readonly #loop: CommitLoop
  readonly #lanes: Lanes
  readonly #reader: Reader
  readonly #watch: Watch
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
    const connectionString = listenerOf(address, options.isPooled)
    this.#watch = new Watch({ driver, connectionString, channel, own, clock })
    const remembered = new ProcessCache(own, options.endEffects)
    const ended = (): RotaError | undefined => this.#loop.ended
    const parts = { connections, statements, remembered, clock, url }
    this.#reader = new Reader({ ...parts, ended })
    const loopOptions = {
      ...parts,
      seed: own,
      isLasting: options.durability !== 'normal',
      onTime: (reading: Parameters<DatabaseClock['observe']>[0]) => {
        if (clock instanceof DatabaseClock) clock.observe(reading)
      },
      onNews: (news?: 'runs') => notify.send(news),
    }
    this.#loop = new CommitLoop(loopOptions)
    this.#lanes = { loop: this.#loop, beside: new CommitLoop(loopOptions), remembered }
  }

  /** Lets a clock that follows the database know its time before anybody asks for it. */
  async readTime(): Promise<void> {
    const clock = this.#clock
    if (!(clock instanceof DatabaseClock)) return
    await this.#reader.ask(async ({ db }) => {
      const beforeMs = clock.monotonicMs()
      const serverMs = (await db.value(TIME)) as number
      clock.observe({ serverMs, beforeMs, afterMs: clock.monotonicMs() })
    })
  }

  defineJobs(request: DefineJobs) {
    return this.#loop.commit((session) => defineJobs(session, request), { items: request.jobs.length })
  }

  defineTriggers(batch: readonly DefineTrigger[]) {
    return this.#commitInPieces(batch, defineTriggers)
  }

  jobs() {
    return this.#reader.ask(jobs)
  }

  removeJobs(names: readonly string[]) {
    return this.#loop.commit((session) => removeJobs(session, names))
  }

  queues() {
    return this.#reader.askTogether(queues)
  }

  triggers(filter: TriggerFilter = {}) {
    return this.#reader.ask((session) => triggers(session, filter))
  }

  fingerprints(source: string) {
    return this.#reader.ask((session) => fingerprints(session, source))
  }

  versions(trigger: string) {
    return this.#reader.ask((session) => versions(session, trigger))
  }

  due(request: Parameters<Store['due']>[0]) {
    return this.#reader.ask((session) => due(session, request))
  }

  dueByName(request: { names: readonly string[]; now: Instant }) {
    return this.#reader.ask((session) => dueByName(session, request))
  }

  tick(batch: readonly Tick[]) {
    return this.#commitInPieces(batch, tick)
  }

  nextTickAt(request: Parameters<Store['nextTickAt']>[0]) {
    return this.#reader.ask((session) => nextTickAt(session, request))
  }

  seen(request: Parameters<Store['seen']>[0]) {
    return this.#reader.ask((session) => seen(session, request))
  }

  forgetSeen(request: Parameters<Store['forgetSeen']>[0]) {
    return this.#loop.commit((session) => forgetSeen(session, request))
  }

  enqueue({ runs, now }: { runs: readonly NewRun[]; now: Instant }) {
    return inPieces(runs, (piece) => {
      const input = { runs: piece, now }
      const isExclusive = !piece.every(isPlain)
      const plain = plainEnqueue(input)
      return this.#loop.commitAlike(enqueueAll, { input, items: piece.length, isExclusive, plain })
    })
  }

  register(worker: WorkerEntry) {
    return this.#loop.commit((session) => register(session, worker), { isExclusive: false })
  }

  heartbeat(request: { worker: string; now: Instant; leaseMs: number }) {
    return this.#reader.ask((session) => heartbeat(session, request), { answerMs: beatLimitMs(request) })
  }

  drain(request: { worker: string; isDraining: boolean }) {
    return this.#loop.commit((session) => drain(session, request), { isExclusive: false })
  }

  retire(request: { worker: string; now: Instant }) {
    return this.#loop.commit((session) => retire(session, request))
  }

  turn(request: Turn) {
    return takeTurn(this.#lanes, request)
  }

  expire(request: Expiry) {
    return this.#loop.commit((session) => expire(session, request))
  }

  cancel(request: { run: RunId; now: Instant; reason: string }) {
    return this.#loop.commit((session) => cancel(session, request))
  }

  retry(request: { run: RunId; now: Instant }) {
    return this.#loop.commit((session) => retry(session, request))
  }

  advance(request: { run: RunId; now: Instant }) {
    return this.#loop.commit((session) => advance(session, request))
  }

  async log(lines: readonly LogLine[]) {
    await inPieces(lines, async (piece) => {
      await this.#loop.commit((session) => log(session, piece), { items: piece.length, isExclusive: false })
      return []
    })
  }

  hold(request: Parameters<Store['hold']>[0]) {
    return this.#loop.commit((session) => hold(session, request))
  }

  release(request: Parameters<Store['release']>[0]) {
    return this.#loop.commit((session) => release(session, request))
  }

  holds(filter: Parameters<Store['holds']>[0] = {}) {
    return this.#reader.ask((session) => holds(session, filter))
  }

  stateEntries(filter: Parameters<Store['stateEntries']>[0]) {
    return this.#reader.ask((session) => notes(session, filter))
  }

  changeState(request: Parameters<Store['changeState']>[0]) {
    return this.#loop.commit((session) => changeState(session, request), {
      items: 1 + request.changes.length,
    })
  }

  facts(request: Parameters<Store['facts']>[0]) {
    return this.#reader.askTogether((session) => facts(session, request))
  }

  takeFacts(batch: readonly Fact[]) {
    return this.#loop.commit((session) => takeFacts(session, batch), { items: batch.length })
  }

  run(id: RunId) {
    return this.#reader.ask((session) => run(session, id))
  }

  runsByPrefix(prefix: string, limit: number) {
    return this.#reader.ask((session) => runsByPrefix(session, prefix, limit))
  }

  async runs(filter: RunFilter) {
    const found: Run[] = []
    for (let rest: RunFilter | undefined = filter; rest !== undefined; ) {
      const part: RunFilter = rest
      const { runs, next } = await this.#reader.ask((session) => listRuns(session, part))
      found.push(...runs)
      rest = next
    }
    return found
  }

  counts() {
    return this.#reader.ask(counts)
  }

  attempts(id: RunId) {
    return this.#reader.ask((session) => attempts(session, id))
  }

  logs(request: Parameters<Store['logs']>[0]) {
    return this.#reader.ask((session) => logs(session, request))
  }

  ledger(request: Parameters<Store['ledger']>[0]) {
    return this.#reader.ask((session) => ledger(session, request))
  }

  runInstants(request: Parameters<Store['runInstants']>[0]) {
    return this.#reader.ask((session) => runInstants(session, request))
  }

  workers() {
    return this.#reader.ask(workers)
  }

  signsOf(request: Parameters<Store['signsOf']>[0]) {
    return this.#reader.ask((session) => signsOf(session, request))
  }

  watch(hint: Hint): () => void {
    if (this.#loop.ended !== undefined) throw this.#loop.ended
    return this.#watch.add(hint)
  }

  async prune(request: { before: Instant; limit: number; now: Instant }) {
    let removed = 0
    for (;;) {
      const limit = Math.min(itemsPerCommit, request.limit - removed)
      const piece = await this.#loop.commit((session) => prune(session, { ...request, limit }), {
        items: limit,
      })
      removed += piece
      if (piece < limit || removed === request.limit) return removed
    }
  }

  health(request: { now: Instant; deep?: boolean | undefined }) {
    const { schema } = this.#statements
    const { isDeaf } = this.#watch
    const isDeep = request.deep === true
    const answerMs = isDeep ? deepLookMs : undefined
    return this.#reader.ask((session) => health(session, { schema, isDeep, isDeaf }), { answerMs })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#watch.close()
    if (this.#loop.ended === undefined) void this.#loop.commit(settle).catch(() => undefined)
    const closed = new RotaError('STORE_CLOSED', `${this.url} was used after it was closed`)
    await Promise.all([this.#loop.close(closed), this.#lanes.beside.close(closed)])
    await this.#connections.close()
  }

  #commitInPieces<Item, Answer>(
    batch: readonly Item[],
    apply: (session: Session, piece: readonly Item[]) => Promise<Answer[]>,
  ): Promise<readonly Answer[]> {
    return inPieces(batch, (piece) =>
      this.#loop.commit((session) => apply(session, piece), { items: piece.length }),
    )
  }
}
