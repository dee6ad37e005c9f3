import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { News } from '../hint.js'
import type { Catalog } from './catalog.js'
import type { NativeVerbs } from './runs/native-verbs.js'
import type { Sql, Verb } from './verb.js'

/** One transaction or query as a verb sees it, with the cache of the process. */
export interface Session {
  readonly sql: Sql
  /** Whether no other transaction writes meanwhile. Always true in SQLite: a transaction has the write lock. */
  readonly isExclusive: boolean
  /** Notes that other processes may wait for what was written; on SQLite they notice every commit anyway. */
  tell(news: News): void
  /** Notes the runs of a tick: others need not be told of those that the worker of this process claims at once. */
  recorded(runs: readonly NewRun[], now: Instant): void
  /** The end effects of runs. */
  readonly endEffects: EndEffects
  readonly native: NativeVerbs
  /** The highest time that was passed in since the store was opened. */
  readonly highestAt: Instant
  noteTime(now: Instant): void
  /** If others may write at the same time, ends the transaction; it is repeated as the only writer. */
  beExclusive(): void
  /** The jobs, queues and holds as of the open transaction. */
  catalog(): Verb<Catalog>
  /** Makes the next use of the catalog check whether it is still current; called after a change. */
  doubtCatalog(): void
  /** Makes the next use of the catalog read it again, after a change without a new revision. */
  forgetCatalog(): void
}
