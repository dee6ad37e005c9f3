import type { Instant } from '../../time/instant.js'
import { chainsOnly, type EndEffects } from '../../kernel/run/end-effect.js'
import { catalogOf, readRevisions, type Catalog } from '../sql/catalog.js'
import type { Session as VerbSession } from '../sql/session.js'
import { answered, performNow, type Sql, type Verb } from '../sql/verb.js'
import { raiseTime } from '../sql/meta.js'
import type { Database } from './database.js'
import { nativeVerbs } from './claim-and-end.js'
import { KnownClaims } from './known-claims.js'

/** One connection, with the cache of this process. Only the store is authoritative. */
export class Session implements VerbSession {
  readonly db: Database
  readonly sql: Sql
  readonly endEffects: EndEffects
  readonly #claims = new KnownClaims()
  readonly native = nativeVerbs(this, this.#claims)
  readonly isExclusive = true
  #highestAt: Instant = 0
  #writtenAt: Instant = 0
  #catalog: Catalog | undefined
  #isCatalogFresh = false

  constructor(db: Database, endEffects: EndEffects = chainsOnly) {
    this.db = db
    this.sql = db.sql
    this.endEffects = endEffects
  }

  /** The jobs, queues and holds as of the open transaction. */
  catalog(): Verb<Catalog> {
    const isKnown = this.#catalog !== undefined && this.#isCatalogFresh
    return isKnown ? answered(this.#catalog as Catalog) : this.#readCatalog()
  }

  *#readCatalog(): Verb<Catalog> {
    this.#catalog = yield* catalogOf(this.sql, this.#catalog, yield* readRevisions(this.sql))
    this.#isCatalogFresh = true
    return this.#catalog
  }

  /** Makes the next use of the catalog check whether it is current: before a transaction or read, and after a change. */
  doubtCatalog(): void {
    this.#isCatalogFresh = false
  }

  forgetCatalog(): void {
    this.#catalog = undefined
  }

  /** Other processes notice every commit. */
  tell(): void {}

  recorded(): void {}

  /** A transaction has the write lock: it is always the only writer. */
  beExclusive(): void {}

  /** The highest time that was passed in since the store was opened. */
  get highestAt(): Instant {
    return this.#highestAt
  }

  noteTime(now: Instant): void {
    if (now > this.#highestAt) this.#highestAt = now
  }

  /** Writes the highest time in the open transaction; a smaller step than `stepMs` waits for a later commit. */
  writeTime(stepMs: number): void {
    if (this.#highestAt < this.#writtenAt + stepMs) return
    performNow(raiseTime(this, this.#highestAt))
    this.#writtenAt = this.#highestAt
  }

  /** Drops the cache: after a rollback it may contain rows that do not exist. */
  forget(): void {
    this.#catalog = undefined
    this.#writtenAt = 0
    this.#claims.clear()
  }
}
