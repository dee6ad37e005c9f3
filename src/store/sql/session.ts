import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Instant } from '../../time/instant.js'
import type { Catalog } from './catalog.js'
import type { NativeVerbs } from './runs/native-verbs.js'
import type { Sql, Verb } from './verb.js'

/** One transaction or question as a verb sees it, with what the process remembers of the store. */
export interface Session {
  readonly sql: Sql
  /** Whether no other transaction writes meanwhile. In SQLite that is always so: a transaction has the write lock. */
  readonly isExclusive: boolean
  /** Set where something was written that other processes may wait for; SQLite's notice every commit anyway. */
  hasNews: boolean
  /** What the ends of runs change besides the runs. */
  readonly endEffects: EndEffects
  readonly native: NativeVerbs
  /** The highest time handed in since the store was opened. */
  readonly highestAt: Instant
  noteTime(now: Instant): void
  /** Ends this try where others may write at the same time; it is made again as the only writer. */
  beExclusive(): void
  /** The jobs, queues and holds as of the open transaction. */
  catalog(): Verb<Catalog>
  /** Makes the next use of the catalog ask whether it is still current: after a change. */
  doubtCatalog(): void
  /** Makes the next use of the catalog read it again, after a change without a new revision. */
  forgetCatalog(): void
}
