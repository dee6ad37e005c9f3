/**
 * The SQLite store: one file, one host, any number of processes.
 *
 * States of a run's row, and who moves them:
 *
 *   enqueue, tick ─▶ delayed ─ turn, its instant has come ─▶ ready ─ turn (claim) ─▶ running
 *                       │                                      ▲                        │
 *                       └─ a gate is full ─▶ blocked ─ a gate is freed ┘                │
 *   running ─ turn (finish) ─▶ done | failed | cancelled, or delayed or ready again for another attempt
 *   delayed, blocked, ready ─ cancel, supersede, end of the trigger ─▶ cancelled
 *   running ─ supersede by terminating ─▶ cancelled; failed, cancelled ─ retry ─▶ delayed, ready or blocked
 *
 * A ready or running run has taken its gates, no other has. Each state has a partial index of its own, and a
 * final run stands in none that a claim or a finish reads: history costs them nothing.
 *
 * Everything that writes goes through one commit loop (`commit-loop.ts`): a verb is a function that is applied
 * inside a transaction together with whatever else arrived. Readers use the same connection between two
 * transactions, so they see what was committed and nothing else.
 *
 * What a crash does: a transaction is there or it is not. A process that dies holding runs leaves them
 * running under its worker; once that worker's lease is over, `expire` gives them out and `turn` ends the
 * attempt as lost. The fence is run, attempt and state, so what a zombie reports later finds no row.
 */
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
  RunFilter,
  Store,
  TriggerFilter,
  Turn,
  WorkerEntry,
} from '../port.js'
import { inPieces, itemsPerCommit } from '../sql/in-pieces.js'
import { advance, cancel, retry } from './cancel.js'
import { CommitLoop, nextTurn } from './commit-loop.js'
import { defineTriggers } from './define.js'
import { defineJobs, removeJobs } from './define-jobs.js'
import { due, dueByName, nextTickAt } from './due.js'
import { enqueueAll } from './enqueue.js'
import { expire } from './expire.js'
import { facts } from './facts.js'
import { health } from './health.js'
import { hold, holds, release } from './holds.js'
import { ledger } from './ledger.js'
import { listRuns } from './list-runs.js'
import { log, logs } from './logs.js'
import { changeState, notes } from './state.js'
import { openDatabase } from './open.js'
import { prune } from './prune.js'
import { fingerprints, jobs, queues, triggers, versions } from './read-definitions.js'
import { attempts, counts, run, runInstants, runsByPrefix } from './read-runs.js'
import { forgetSeen, seen } from './seen.js'
import { Session } from './session.js'
import { takeFacts } from './take-facts.js'
import { tick } from './tick.js'
import { turn } from './turn.js'
import { fileIdentity } from './file-identity.js'
import { Watch } from './watch.js'
import { whenFree } from './when-free.js'
import { drain, heartbeat, register, retire, signsOf, workers } from './workers.js'

/** How a SQLite store is opened. */
export interface SqliteOptions {
  readonly path: string
  /** What messages call it; `sqlite:<path>` where absent. */
  readonly url?: string | undefined
  /** `full` (the default) survives a loss of power; `normal` may lose the last commits in one. */
  readonly durability?: 'full' | 'normal' | undefined
  /** Whether a file that does not exist is made; it is unless this is false. */
  readonly create?: boolean | undefined
  readonly readOnly?: boolean | undefined
  /** Used to wait and to look for other processes' commits, never for facts. */
  readonly clock: Clock
  /** Told the number of each commit of this connection that was counted, before anybody has its answer. */
  readonly onCommit?: ((number: number) => void) | undefined
  /** What the ends of runs change; default: chains only. */
  readonly endEffects?: EndEffects | undefined
}

/** Opens a SQLite store, and makes it where there is none. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, clock, durability = 'full', create = true, readOnly = false, onCommit } = options
  const url = options.url ?? `sqlite:${path}`
  const db = await openDatabase({ path, url, durability, create, readOnly, clock })
  return new SqliteStore({ session: new Session(db, options.endEffects), clock, path, url, onCommit })
}

/** What is written to a file that nobody else can open any more would be seen by nobody, and done twice. */
function replaced(url: string): RotaError {
  return new RotaError(
    'STORE_WENT_BACK',
    `${url}: the file, or the -wal file beside it, was removed or replaced while it was open`,
  )
}

class SqliteStore implements Store {
  readonly url: string
  readonly #path: string
  readonly #clock: Clock
  readonly #session: Session
  readonly #loop: CommitLoop
  readonly #watch: Watch
  #isDamaged = false
  #closing: Promise<void> | undefined

  constructor(options: {
    session: Session
    clock: Clock
    path: string
    url: string
    onCommit: ((number: number) => void) | undefined
  }) {
    this.url = options.url
    this.#path = options.path
    this.#clock = options.clock
    this.#session = options.session
    this.#loop = new CommitLoop(options)
    const isSameFile = fileIdentity(options.path)
    // While a connection is open, SQLite itself never removes its log.
    const isSameLog = fileIdentity(`${options.path}-wal`)
    this.#watch = new Watch({
      ...options,
      isOver: () => this.#loop.ended !== undefined,
      checkFile: () => {
        if (!isSameFile() || !isSameLog()) this.#loop.breakOff(replaced(options.url))
      },
    })
  }

  defineJobs(request: DefineJobs) {
    return this.#loop.commit((session) => defineJobs(session, request), request.jobs.length)
  }

  defineTriggers(batch: readonly DefineTrigger[]) {
    return this.#commitInPieces(batch, defineTriggers)
  }

  jobs() {
    return this.#read(jobs)
  }

  removeJobs(names: readonly string[]) {
    return this.#loop.commit((session) => removeJobs(session, names))
  }

  queues() {
    return this.#read(queues)
  }

  triggers(filter: TriggerFilter = {}) {
    return this.#read((session) => triggers(session, filter))
  }

  fingerprints(source: string) {
    return this.#read((session) => fingerprints(session, source))
  }

  versions(trigger: string) {
    return this.#read((session) => versions(session, trigger))
  }

  due(request: Parameters<Store['due']>[0]) {
    return this.#read((session) => due(session, request))
  }

  dueByName(request: { names: readonly string[]; now: Instant }) {
    return this.#read((session) => dueByName(session, request))
  }

  tick(batch: readonly Tick[]) {
    return this.#commitInPieces(batch, tick)
  }

  nextTickAt(request: Parameters<Store['nextTickAt']>[0]) {
    return this.#read((session) => nextTickAt(session, request))
  }

  seen(request: Parameters<Store['seen']>[0]) {
    return this.#read((session) => seen(session, request))
  }

  forgetSeen(request: Parameters<Store['forgetSeen']>[0]) {
    return this.#loop.commit((session) => forgetSeen(session, request))
  }

  enqueue({ runs, now }: { runs: readonly NewRun[]; now: Instant }) {
    return inPieces(runs, (piece) =>
      this.#loop.commitAlike(enqueueAll, { input: { runs: piece, now }, items: piece.length }),
    )
  }

  register(worker: WorkerEntry) {
    return this.#loop.commit((session) => register(session, worker))
  }

  heartbeat(request: { worker: string; now: Instant; leaseMs: number }) {
    return this.#loop.commit((session) => heartbeat(session, request))
  }

  drain(request: { worker: string; isDraining: boolean }) {
    return this.#loop.commit((session) => drain(session, request))
  }

  retire(request: { worker: string; now: Instant }) {
    return this.#loop.commit((session) => retire(session, request))
  }

  turn(request: Turn) {
    return this.#loop.commit((session) => turn(session, request), 1 + request.finished.length)
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
    await this.#commitInPieces(lines, (session, piece) => {
      log(session, piece)
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
    return this.#read((session) => holds(session, filter))
  }

  stateEntries(filter: Parameters<Store['stateEntries']>[0]) {
    return this.#read((session) => notes(session, filter))
  }

  changeState(request: Parameters<Store['changeState']>[0]) {
    return this.#loop.commit((session) => changeState(session, request), 1 + request.changes.length)
  }

  facts(request: Parameters<Store['facts']>[0]) {
    return this.#read((session) => facts(session, request))
  }

  takeFacts(batch: readonly Fact[]) {
    return this.#loop.commit((session) => takeFacts(session, batch), batch.length)
  }

  run(id: RunId) {
    return this.#read((session) => run(session, id))
  }

  runsByPrefix(prefix: string, limit: number) {
    return this.#read((session) => runsByPrefix(session, prefix, limit))
  }

  async runs(filter: RunFilter) {
    const found: Run[] = []
    for (let rest: RunFilter | undefined = filter; rest !== undefined; ) {
      const part: RunFilter = rest
      const { runs, next } = await this.#read((session) => listRuns(session, part))
      found.push(...runs)
      rest = next
      // A long list must not keep the worker from its turn.
      if (rest !== undefined) await nextTurn()
    }
    return found
  }

  counts() {
    return this.#read(counts)
  }

  attempts(id: RunId) {
    return this.#read((session) => attempts(session, id))
  }

  logs(request: Parameters<Store['logs']>[0]) {
    return this.#read((session) => logs(session, request))
  }

  ledger(request: Parameters<Store['ledger']>[0]) {
    return this.#read((session) => ledger(session, request))
  }

  runInstants(request: Parameters<Store['runInstants']>[0]) {
    return this.#read((session) => runInstants(session, request))
  }

  workers() {
    return this.#read(workers)
  }

  signsOf(request: Parameters<Store['signsOf']>[0]) {
    return this.#read((session) => signsOf(session, request))
  }

  watch(hint: () => void): () => void {
    if (this.#loop.ended !== undefined) throw this.#loop.ended
    return this.#watch.add(hint)
  }

  async prune(request: { before: Instant; limit: number; now: Instant }) {
    let removed = 0
    for (;;) {
      const limit = Math.min(itemsPerCommit, request.limit - removed)
      const piece = await this.#loop.commit((session) => prune(session, { ...request, limit }), limit)
      removed += piece
      if (piece < limit || removed === request.limit) return removed
    }
  }

  health(request: { now: Instant; deep?: boolean | undefined }) {
    return this.#read((session) => {
      const found = health(session, { path: this.#path, isDeep: request.deep === true })
      this.#isDamaged ||= found.faults.length > 0
      return found
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const isBroken = this.#loop.ended !== undefined
    this.#watch.close()
    if (!isBroken && !this.#isDamaged)
      void this.#loop.commit((session) => session.writeTime(0)).catch(() => undefined)
    await this.#loop.close(new RotaError('STORE_CLOSED', `${this.url} was used after it was closed`))
    // Closing writes the log back into the file. After a failed write that is left to the next opening, and into a
    // damaged file nothing is written: whoever repairs it needs both as they are.
    if (!isBroken && !this.#isDamaged) this.#session.db.close()
  }

  #commitInPieces<Item, Answer>(
    batch: readonly Item[],
    apply: (session: Session, piece: readonly Item[]) => Answer[],
  ): Promise<readonly Answer[]> {
    return inPieces(batch, (piece) => this.#loop.commit((session) => apply(session, piece), piece.length))
  }

  /** Asks between two transactions. A reader waits only where another process repairs the log of one that died. */
  #read<T>(ask: (session: Session) => T): Promise<T> {
    return whenFree({ clock: this.#clock, url: this.url }, () => {
      const { ended } = this.#loop
      if (ended !== undefined) throw ended
      this.#session.doubtCatalog()
      return ask(this.#session)
    })
  }
}
