import type { LedgerEntry } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** What a trigger missed. */
export interface Missed {
  readonly trigger: string
  readonly ranges: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly rule: string
  readonly recordedAt: Instant
  /** The number of the newest range. */
  readonly seq: number
}

/** How many ranges are looked at: a store that was down for long has one for each trigger. */
const mostRanges = 1000

/** What was recorded as missed since an instant and nobody has looked at, the newest trigger first. */
export async function missedSince(store: Store, since: Instant): Promise<readonly Missed[]> {
  const recent = await store.ledgerPage({ reasons: ['missed'], fromAt: since, limit: mostRanges })
  const names = [...new Set(recent.map(({ trigger }) => trigger))]
  const entries = await store.stateEntries({ kind: 'looked', names, items: [''], limit: names.length })
  const looked = new Map(entries.map(({ name, value }) => [name, value as number]))
  const byTrigger = new Map<string, LedgerEntry[]>()
  for (const range of recent) {
    if (range.seq <= (looked.get(range.trigger) ?? 0)) continue
    byTrigger.set(range.trigger, [...(byTrigger.get(range.trigger) ?? []), range])
  }
  return [...byTrigger.values()].map(summed)
}

/** Remembers that somebody has looked at what a trigger missed, up to a range of the ledger; answers up to which before. */
export async function lookedAt(
  store: Store,
  {
    trigger,
    seq,
    insteadOf,
    now,
  }: {
    readonly trigger: string
    readonly seq: number
    /** Takes it back: only if this range is still the last one that somebody looked at. */
    readonly insteadOf?: number | undefined
    readonly now: Instant
  },
): Promise<number> {
  const key = { kind: 'looked', name: trigger, item: '' } as const
  for (;;) {
    const [known] = await store.stateEntries({ kind: 'looked', names: [trigger], items: [''], limit: 1 })
    const before = (known?.value as number | undefined) ?? 0
    // Who looked at a later range has looked at this one.
    if (insteadOf === undefined ? before >= seq : before !== insteadOf) return before
    const change = { ...key, revision: known?.revision ?? 0, value: seq }
    if ((await store.changeState({ changes: [change], now })) === 'changed') return before
  }
}

/** The ranges of one trigger, the newest first, as one. */
function summed(ranges: readonly LedgerEntry[]): Missed {
  const { trigger, rule, recordedAt, seq } = ranges[0] as LedgerEntry
  const firstAt = Math.min(...ranges.map((range) => range.firstAt))
  const lastAt = Math.max(...ranges.map((range) => range.lastAt))
  return { trigger, ranges: ranges.length, firstAt, lastAt, rule, recordedAt, seq }
}
