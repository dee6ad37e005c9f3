/**
 * The SQLite store: one file, one host, any number of processes.
 *
 * States of a run's row, and what changes them:
 *
 *   enqueue, tick ─▶ delayed ─ turn, its instant has come ─▶ ready ─ turn (claim) ─▶ running
 *                       │                                      ▲                        │
 *                       └─ a slot is full ─▶ blocked ─ freed ──┴─ claimed there ────────┤
 *   running ─ turn (finish) ─▶ done | failed | cancelled, or delayed or ready again for another attempt
 *   delayed, blocked, ready ─ cancel, supersede, end of the trigger ─▶ cancelled
 *   running ─ supersede by terminating ─▶ cancelled; failed, cancelled ─ retry ─▶ delayed, ready or blocked
 *
 * Only a ready or running run has its concurrency slots. Each state has its own partial index. A final run is in no
 * index that a claim or a finish reads, so history costs them nothing.
 *
 * All writes go through one commit loop (`commit-loop.ts`): a verb is a function that is applied inside a transaction
 * together with everything else that is waiting. Readers use the same connection between two transactions, so they see
 * only committed data.
 *
 * After a crash a transaction exists completely or not at all. The runs of a dead process stay running
 * under its worker; when the lease of that worker has expired, `expire` returns them and `turn` ends the
 * attempt as lost. Results are matched by run, attempt and state, so a late result finds no row.
 */
import { RotaError } from '../../kernel/definition/errors.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Clock } from '../../time/clock.js'
import type { Enqueued, Store } from '../port.js'
import type { StoreHealth } from '../store-health.js'
import { inPieces } from '../sql/in-pieces.js'
import { enqueueAll, type EnqueueRequest } from '../sql/runs/enqueue.js'
import { turn } from '../sql/runs/turn.js'
import type { Driver } from '../sql/driver.js'
import { auditedVerbs, storeVerbs } from '../sql/store-verbs.js'
import { performNow } from '../sql/verb.js'
import { CommitLoop } from './commit-loop.js'
import { health } from './health.js'
import { openDatabase } from './open.js'
import { Session } from './session.js'
import { fileIdentity } from './file-identity.js'
import { DATA_VERSION, watchFile } from './watch.js'
import { whenFree } from './when-free.js'
import { heartbeat } from './heartbeat.js'

/** The options of a SQLite store. */
export interface SqliteOptions {
  readonly path: string
  /** Its name in messages; default: `sqlite:<path>`. */
  readonly url?: string | undefined
  /** `full` survives a power loss; `normal` may lose the last commits in one. Default: `full`. */
  readonly durability?: 'full' | 'normal' | undefined
  /** Whether a missing file is created; default: true. */
  readonly create?: boolean | undefined
  /** Opens it read-only, while another process writes; default: false. */
  readonly readOnly?: boolean | undefined
  /** Used to wait and to poll for commits of other processes, never for stored times. */
  readonly clock: Clock
  /** Called with the number of each counted commit of this connection, before the callers get their answers. */
  readonly onCommit?: ((number: number) => void) | undefined
  /** What the ends of runs change; default: chains only. */
  readonly endEffects?: EndEffects | undefined
}

/** Opens a SQLite store, and creates it if it is missing. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, clock, durability = 'full', create = true, readOnly = false, onCommit } = options
  const url = options.url ?? `sqlite:${path}`
  const db = await openDatabase({ path, url, durability, create, readOnly, clock })
  const session = new Session(db, options.endEffects)
  return storeOf(new OpenFile({ session, clock, path, url, onCommit, tellsBeats: readOnly }), readOnly)
}

function storeOf(file: OpenFile, isReader: boolean): Store {
  const { loop } = file
  const store: Store = {
    ...storeVerbs(file.driver),
    url: file.url,
    audited: (record) => ({ ...store, ...auditedVerbs(file.driver, record) }),
    enqueue: ({ runs, now }) =>
      inPieces(runs, (piece) =>
        loop.commitAlike(enqueueTogether, { input: { runs: piece, now }, items: piece.length }),
      ),
    heartbeat: (request) => loop.commit((session) => heartbeat(session, request)),
    turn: (request) =>
      file.driver.commit((session) => turn(session, request), { items: 1 + request.finished.length }),
    watch: (hint) => file.watch(hint),
    health: (request) => file.health(request.deep === true),
    close: () => file.close(),
    stamp: () => file.stamp(),
    ...(isReader ? { version: () => file.version() } : {}),
  }
  return store
}

function enqueueTogether(session: Session, requests: readonly EnqueueRequest[]): readonly Enqueued[][] {
  return performNow(enqueueAll(session, requests))
}

/** An open file: its connection, the commit loop and the watch for other processes. */
class OpenFile {
  readonly url: string
  readonly loop: CommitLoop
  readonly driver: Driver = {
    commit: (verb, { items = 1 } = {}) => this.loop.commit((session) => performNow(verb(session)), items),
    read: (verb) => this.read((session) => performNow(verb(session))),
  }
  readonly #path: string
  readonly #clock: Clock
  readonly #session: Session
  readonly #watch: ReturnType<typeof watchFile>
  #isDamaged = false
  #closing: Promise<void> | undefined

  constructor(options: {
    session: Session
    clock: Clock
    path: string
    url: string
    onCommit: ((number: number) => void) | undefined
    tellsBeats: boolean
  }) {
    this.url = options.url
    this.#path = options.path
    this.#clock = options.clock
    this.#session = options.session
    this.loop = new CommitLoop(options)
    const isSameFile = fileIdentity(options.path)
    // While a connection is open, SQLite itself never removes its log.
    const isSameLog = fileIdentity(`${options.path}-wal`)
    this.#watch = watchFile({
      ...options,
      isOver: () => this.loop.ended !== undefined,
      checkFile: () => {
        if (!isSameFile() || !isSameLog()) this.loop.breakOff(replaced(options.url))
      },
    })
  }

  /** Reads between two transactions. Waits only if another process repairs the log of one that died. */
  read<T>(ask: (session: Session) => T): Promise<T> {
    return whenFree({ clock: this.#clock, url: this.url }, () => {
      const { ended } = this.loop
      if (ended !== undefined) throw ended
      this.#session.doubtCatalog()
      return ask(this.#session)
    })
  }

  version(): unknown {
    if (this.loop.ended !== undefined) throw this.loop.ended
    return this.#session.db.value(DATA_VERSION)
  }

  /** `data_version` does not change with commits of its own connection, so those are counted. */
  async stamp(): Promise<string> {
    return `${this.version() as number} ${this.loop.commits}`
  }

  watch(hint: () => void): () => void {
    if (this.loop.ended !== undefined) throw this.loop.ended
    return this.#watch.add(hint)
  }

  health(isDeep: boolean): Promise<StoreHealth> {
    return this.read((session) => {
      const found = health(session, { path: this.#path, isDeep })
      this.#isDamaged ||= found.faults.length > 0
      return found
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const isBroken = this.loop.ended !== undefined
    this.#watch.close()
    if (!isBroken && !this.#isDamaged)
      void this.loop.commit((session) => session.writeTime(0)).catch(() => undefined)
    await this.loop.close(new RotaError('STORE_CLOSED', `${this.url} was used after it was closed`))
    // Closing writes the log back into the file. After a failed write that is left to the next opening, and nothing is
    // written into a damaged file: a repair needs both unchanged.
    if (!isBroken && !this.#isDamaged) this.#session.db.close()
  }
}

/** Data written to a removed file would be visible to no other process, and the work would be repeated. */
function replaced(url: string): RotaError {
  return new RotaError(
    'STORE_WENT_BACK',
    `${url}: the file, or its -wal file, was removed or replaced while it was open`,
  )
}
