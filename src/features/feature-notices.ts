import type { NoticeText } from '../cli/framework/print/notice.js'
import type { TimeText } from '../cli/framework/print/time-text.js'
import type { EngineEvents, EventName, RunNotice } from '../engine/events.js'
import type { LedgerRange } from '../kernel/ledger/ledger.js'

/** How `rota up` prints what belongs to a feature. */
export interface FeatureNotices {
  /** The notices of its own events. */
  readonly events?: { readonly [Name in EventName]?: (event: EngineEvents[Name]) => readonly NoticeText[] }
  /** The notice of a range of a tick, if the feature has its own words for it. */
  readonly range?: (range: LedgerRange, tick: EngineEvents['tick'], times: TimeText) => NoticeText | undefined
  /** What a run is called, if it is one of this feature. */
  readonly subject?: (run: RunNotice) => string | undefined
}
