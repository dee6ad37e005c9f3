import type { EndEffects } from '../../../kernel/run/end-effect.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { NewRun } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { catalogOf, readRevisions, type Catalog, type Revisions } from '../../sql/catalog.js'
import { joinNews, type News } from '../../hint.js'
import type { Session as VerbSession } from '../../sql/session.js'
import { perform, type Sql, type Verb } from '../../sql/verb.js'
import { raiseTime } from '../../sql/meta.js'
import type { Database } from '../connection/database.js'
import { nativeVerbs } from './claim-and-end.js'
import type { ProcessCache } from './process-cache.js'

// Relies on: the unique index of workers.id, then notices_worker.
const FORGET_NOTICES = `delete from rota.notices
  where worker = (select key from rota.workers where id = $1) and id <= $2`

/** Thrown if an operation needs the exclusive lock and does not have it: the transaction is repeated with it. */
export class NotExclusive extends Error {}

/** One transaction, or one query, with the cache of this process. */
export class Session implements VerbSession {
  readonly db: Database
  readonly sql: Sql
  readonly remembered: ProcessCache
  readonly native = nativeVerbs(this)
  /** Whether the transaction has the exclusive lock of the schema. */
  readonly isExclusive: boolean
  /** What other processes may wait for. */
  news: News | undefined
  /** New runs that can be claimed. */
  readonly newRuns: RunId[] = []
  #revisions: Revisions | undefined
  readonly #afterCommit: (() => void)[] = []

  constructor(options: {
    db: Database
    remembered: ProcessCache
    isExclusive: boolean
    revisions?: Revisions | undefined
  }) {
    this.db = options.db
    this.sql = options.db.sql
    this.remembered = options.remembered
    this.isExclusive = options.isExclusive
    this.#revisions = options.revisions
  }

  get endEffects(): EndEffects {
    return this.remembered.endEffects
  }

  tell(news: News): void {
    this.news = joinNews(this.news, news)
  }

  recorded(runs: readonly NewRun[], now: Instant): void {
    for (const { id, runAt } of runs) {
      // Every worker must know when the next run is due.
      if (runAt > now) this.tell('runs')
      else this.newRuns.push(id)
    }
  }

  /** Throws unless the transaction has the exclusive lock. */
  beExclusive(): void {
    if (!this.isExclusive) throw new NotExclusive('this has to be the only writer')
  }

  /** The jobs, queues and holds as this transaction sees them. */
  *catalog(): Verb<Catalog> {
    this.#revisions ??= yield* readRevisions(this.sql)
    const catalog = yield* catalogOf(this.sql, this.remembered.catalog, this.#revisions)
    this.remembered.catalog = catalog
    return catalog
  }

  forgetCatalog(): void {
    this.remembered.catalog = undefined
  }

  get highestAt(): Instant {
    return this.remembered.highestAt
  }

  noteTime(now: Instant): void {
    this.remembered.noteTime(now)
  }

  /** Makes the next use of the catalog check its revision, after a change. */
  doubtCatalog(): void {
    this.#revisions = undefined
  }

  /** Writes the highest time; a step below the given one may wait for a later commit. */
  async writeTime(stepMs: number): Promise<void> {
    const { remembered } = this
    if (!remembered.isTimeToWrite(stepMs)) return
    const at = remembered.highestAt
    await perform(raiseTime(this, at))
    this.afterCommit(() => remembered.timeWritten(at))
  }

  /** Writes what could otherwise wait: the highest time, and which notices workers have received. */
  async settle(): Promise<void> {
    await this.writeTime(0)
    for (const [worker, notice] of this.remembered.allHeard)
      await this.db.change(FORGET_NOTICES, worker, notice)
  }

  /** Runs an action only if this transaction is committed. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  committed(): void {
    for (const act of this.#afterCommit) act()
  }
}
