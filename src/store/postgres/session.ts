import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Catalog } from '../sql/catalog.js'
import { loadCatalog, type Revisions } from './catalog.js'
import type { Database } from './database.js'
import type { ProcessCache } from './process-cache.js'

// Relies on: primary key of meta. Never lowers it: another process may have written a later one.
const RAISE_TIME = `update rota.meta set highest_at = $1 where id = 1 and highest_at < $1`

// Relies on: primary key of meta.
const REVISIONS = `select jobs_revision, limits_revision from rota.meta where id = 1`

/** Thrown by what must be the only writer where it is not: the transaction is made again, alone. */
export class NotExclusive extends Error {}

/** One transaction, or one question, with what this process remembers. */
export class Session {
  readonly db: Database
  readonly remembered: ProcessCache
  /** Whether no other transaction of any process writes meanwhile. */
  readonly isExclusive: boolean
  /** Whether something was written that others may wait for. */
  hasNews = false
  #revisions: Revisions | undefined
  readonly #afterCommit: (() => void)[] = []

  constructor(options: {
    db: Database
    remembered: ProcessCache
    isExclusive: boolean
    revisions?: Revisions | undefined
  }) {
    this.db = options.db
    this.remembered = options.remembered
    this.isExclusive = options.isExclusive
    this.#revisions = options.revisions
  }

  get endEffects(): EndEffects {
    return this.remembered.endEffects
  }

  /** Ends this try where others may write at the same time. */
  beExclusive(): void {
    if (!this.isExclusive) throw new NotExclusive('this has to be the only writer')
  }

  /** The jobs, queues and holds as they stand in the transaction that is open. */
  async catalog(): Promise<Catalog> {
    this.#revisions ??= await this.db.get<Revisions>(REVISIONS)
    if (this.#revisions === undefined) throw new Error('The store has lost the row that describes it')
    const known = this.remembered.catalog
    const catalog = await loadCatalog(this.db, known, this.#revisions)
    this.remembered.catalog = catalog
    return catalog
  }

  /** Makes the next look at the catalog ask whether it still holds: after a change. */
  doubtCatalog(): void {
    this.#revisions = undefined
  }

  /** Writes the highest time down; a step below the given one may wait for a later commit. */
  async writeTime(stepMs: number): Promise<void> {
    const { remembered } = this
    if (!remembered.isTimeToWrite(stepMs)) return
    const at = remembered.highestAt
    await this.db.change(RAISE_TIME, at)
    this.afterCommit(() => remembered.timeWritten(at))
  }

  /** Remembers something only if this transaction comes to be. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  committed(): void {
    for (const act of this.#afterCommit) act()
  }
}
