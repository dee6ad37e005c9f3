import type { TriggerKinds } from '../../engine/trigger-kind.js'
import { claimingTargets, planningTargets, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { TallyRow } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { holdView, triggerView, versionView } from '../../wire/views/definitions.js'
import { triggerState } from '../../wire/views/trigger-state.js'
import { rangeFields } from '../../wire/views/why.js'
import { pick } from '../../wire/to-json.js'
import { clockChanges, exclusions, instantsToCome } from './due.js'

/** Which lanes, and the range of time. */
export interface TimelineQuery {
  readonly lanes: readonly string[]
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** A lane has marks up to this number; with more runs it has as many buckets. */
const mostMarks = 300
const mostRanges = 500
const mostHolds = 100

interface Drawing extends TimelineQuery {
  readonly store: Store
  readonly kinds: TriggerKinds
  readonly now: Instant
  readonly bucketMs: number
  readonly open: readonly Hold[]
}

/** Everything on the lanes of some triggers, past and future. */
export async function timeline(
  { store, kinds, now }: { readonly store: Store; readonly kinds: TriggerKinds; readonly now: Instant },
  query: TimelineQuery,
) {
  const { fromAt, untilAt } = query
  const names = [...new Set(query.lanes)]
  const bucketMs = Math.max(1000, Math.ceil((untilAt - fromAt) / mostMarks))
  const found = await store.triggers({ names })
  const byName = new Map(found.map((stored) => [stored.trigger.name, stored]))
  const open = await store.holds({ openAt: now })
  const drawing = { ...query, store, kinds, now, bucketMs, open }
  const lanes: unknown[] = []
  for (const name of names) {
    const stored = byName.get(name)
    if (stored === undefined) continue
    lanes.push(await laneOf(drawing, stored))
    await nextTurn()
  }
  const everything = [...new Set([...planningTargets, ...claimingTargets])]
  return {
    at: now,
    fromAt,
    untilAt,
    bucketMs,
    lanes,
    unknown: names.filter((name) => !byName.has(name)),
    holds: (await Promise.all(everything.map((target) => holdsIn(drawing, target)))).flat().map(holdView),
  }
}

async function laneOf(drawing: Drawing, stored: StoredTrigger) {
  const { store, fromAt, untilAt, open } = drawing
  const { name, schedule } = stored.trigger
  const window = { triggers: [name], fromAt, untilAt }
  const marks = await store.lanes({ ...window, limit: mostMarks + 1 })
  const isFull = marks.length > mostMarks
  const tally = isFull ? await store.tally({ ...window, bucketMs: drawing.bucketMs }) : []
  const ranges = await store.ledger({ trigger: name, fromAt, untilAt })
  const versions = await store.versions(name)
  const isInside = ({ validFrom, validUntil = Infinity }: (typeof versions)[number]): boolean =>
    validFrom <= untilAt && validUntil >= fromAt
  return {
    trigger: { ...triggerView(stored, triggerState(stored, open)), revision: stored.revision },
    timezone: 'timezone' in schedule ? schedule.timezone : undefined,
    marks: isFull ? undefined : marks.map((mark) => pick(mark, markFields)),
    buckets: isFull ? bucketsOf(tally) : undefined,
    ranges: ranges.slice(-mostRanges).map((range) => pick(range, [...rangeFields, 'recordedAt'])),
    holds: (await holdsIn(drawing, `trigger:${name}`)).map(holdView),
    versions: versions.filter(isInside).map((version) => {
      const { trigger: _definition, ...when } = versionView(version)
      return when
    }),
    ...futureOf(drawing, stored),
  }
}

const markFields = ['id', 'state', 'dueAt', 'startedAt', 'finishedAt'] as const

/** Tallied runs, with all states of a bucket in one row. */
export function bucketsOf(tally: readonly TallyRow[]) {
  const buckets = new Map<Instant, Record<TallyRow['state'], number>>()
  for (const { bucketAt, state, runs } of tally) {
    const known = buckets.get(bucketAt) ?? { pending: 0, running: 0, done: 0, failed: 0, cancelled: 0 }
    buckets.set(bucketAt, { ...known, [state]: known[state] + runs })
  }
  return [...buckets].map(([bucketAt, counts]) => ({ bucketAt, ...counts }))
}

/** The unplanned instants; `dueUntil` is how far they are complete. */
function futureOf({ kinds, fromAt, untilAt, now }: Drawing, stored: StoredTrigger) {
  const change = clockChanges(stored)
  const excluded = exclusions(stored)
  const due: { at: Instant; change: ReturnType<typeof change>; excluded: LedgerReason | undefined }[] = []
  const afterAt = Math.max(fromAt - 1, Math.min(now, stored.cursorAt))
  for (const at of instantsToCome(kinds, stored, { afterAt, untilAt })) {
    if (due.length >= mostMarks) return { due, dueUntil: due.at(-1)?.at }
    due.push({ at, change: change(at), excluded: excluded(at)?.reason })
  }
  return { due, dueUntil: untilAt }
}

/** The newest holds on a target that overlap the range. */
async function holdsIn({ store, fromAt, untilAt }: Drawing, target: HoldTarget): Promise<readonly Hold[]> {
  const holds = await store.holds({ target, openAt: fromAt })
  return holds.filter((hold) => hold.fromAt <= untilAt).slice(0, mostHolds)
}
