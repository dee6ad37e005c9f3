import type { LedgerEntry } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { pick } from '../../wire/to-json.js'

/** The missed instants of a trigger. */
export interface Missed {
  readonly trigger: string
  readonly ranges: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly rule: string
  readonly detail: string | undefined
  /** The version of the trigger that missed the newest of them. */
  readonly version: number
  readonly recordedAt: Instant
  /** The number of the newest range. */
  readonly seq: number
}

/** How many ranges are read: after a long downtime there is one for each trigger. */
const mostRanges = 1000

/** The missed ranges since an instant that no user has acknowledged, by trigger, the newest first. */
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

/** The same with the limits that decided, where the trigger is still the version that missed. */
export async function withLimits(store: Store, missed: readonly Missed[]) {
  const names = missed.map(({ trigger }) => trigger)
  const stored = names.length === 0 ? [] : await store.triggers({ names })
  const byName = new Map(stored.map((one) => [one.trigger.name, one]))
  return missed.map(({ version, ...one }) => {
    const known = byName.get(one.trigger)
    const isSame = known?.version === version
    return {
      ...one,
      catchUp: isSame ? pick(known.trigger.catchUp, ['graceMs', 'maxAgeMs', 'maxRuns']) : undefined,
    }
  })
}

/** Records that a user has acknowledged the missed ranges of a trigger up to one; returns the previous one. */
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
    /** Undoes it, if this range is still the last acknowledged one. */
    readonly insteadOf?: number | undefined
    readonly now: Instant
  },
): Promise<number> {
  const key = { kind: 'looked', name: trigger, item: '' } as const
  for (;;) {
    const [known] = await store.stateEntries({ kind: 'looked', names: [trigger], items: [''], limit: 1 })
    const before = (known?.value as number | undefined) ?? 0
    // Acknowledging a later range includes this one.
    if (insteadOf === undefined ? before >= seq : before !== insteadOf) return before
    const change = { ...key, revision: known?.revision ?? 0, value: seq }
    if ((await store.changeState({ changes: [change], now })) === 'changed') return before
  }
}

/** Sums up the ranges of one trigger, which come newest first. */
function summed(ranges: readonly LedgerEntry[]): Missed {
  const { trigger, rule, detail, version, recordedAt, seq } = ranges[0] as LedgerEntry
  const firstAt = Math.min(...ranges.map((range) => range.firstAt))
  const lastAt = Math.max(...ranges.map((range) => range.lastAt))
  return { trigger, ranges: ranges.length, firstAt, lastAt, rule, detail, version, recordedAt, seq }
}
