import type { Observation } from '../sensor.js'
import type { Sensed } from './read-poll.js'
import { digestOf, endTick, factsOf, isStillOurs, partTick, releaseTick, type SensorFacts } from '../plan.js'
import { openPollKey, recordKey } from '../record.js'
import type { Tick } from '../../../kernel/tick/tick.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'

/** How many observations are written in one transaction. */
const perTick = 1000

const tries = 20

/** What committing a poll needs. */
export interface CommitContext {
  readonly store: Store
  readonly now: () => Instant
  /** Called while a tick with runs is on its way, so that a worker's turn can join its commit. */
  readonly onRuns: () => void
  /** Told of each tick that was committed. */
  readonly onTick: (tick: Tick) => void
}

/** What became of what a poll found. */
export type Committed =
  | { readonly kind: 'committed'; readonly tick: Tick; readonly fresh: number }
  /** Somebody reset, paused, ended or took over the sensor meanwhile: nothing of it counts. */
  | { readonly kind: 'discarded' }

/** Commits what a poll came to: all of it, or, where it is large, in parts of which the last one moves the state. */
export async function commitPoll(
  context: CommitContext,
  claimed: SensorFacts,
  end: { readonly sensed: Sensed; readonly startedAt: Instant; readonly isHinted: () => boolean },
): Promise<Committed> {
  const { sensed, startedAt } = end
  let facts = claimed
  let written = 0
  let freshInAll = 0
  for (let stale = 0; stale < tries; ) {
    const now = context.now()
    const part = sensed.observations.slice(written, written + perTick)
    const fresh = await freshOf(context.store, facts, { observations: part, now })
    const isLast = written + perTick >= sensed.observations.length
    const sum = freshInAll + fresh.length
    const { tick, facts: next } = isLast
      ? {
          tick: endTick(facts, sensed, { now, fresh, freshInAll: sum, startedAt, isHinted: end.isHinted() }),
          facts,
        }
      : partTick(facts, fresh, now)
    if (await tickOne(context, tick)) {
      if (isLast) return { kind: 'committed', tick, fresh: sum }
      freshInAll = sum
      written += perTick
      facts = next
      continue
    }
    stale += 1
    const current = await readFacts(context.store, [facts.due.trigger.name], now)
    if (current[0] === undefined || !isStillOurs(current[0], claimed, now)) break
    // Only others' deliveries, hints and definitions came between: what was found holds beside them.
    const { lagMs, failures } = claimed.record
    facts = { ...current[0], record: { ...current[0].record, lagMs, failures } }
  }
  await releasePoll(context, claimed)
  return { kind: 'discarded' }
}

/** Gives a claimed poll back, where it is still held: whoever looks next begins anew. */
export async function releasePoll(
  { store, now }: Pick<CommitContext, 'store' | 'now'>,
  claimed: SensorFacts,
): Promise<void> {
  const { name } = claimed.due.trigger
  for (let i = 0; i < tries; i++) {
    const at = now()
    const [facts] = await readFacts(store, [name], at)
    if (facts?.open === undefined || facts.open.id !== claimed.open?.id) return
    const [answer] = await store.tick([releaseTick(facts, at)])
    if (answer === 'ticked') return
    if (facts.due.active) continue
    // An ended trigger has no ticks; the note alone can go.
    const change = { ...openPollKey(name), revision: facts.openRevision, value: undefined }
    await store.changeState({ changes: [change], now: at })
    return
  }
}

/** The named sensors as they stand, without those that are not there. */
export async function readFacts(
  store: Store,
  names: readonly string[],
  now: Instant,
): Promise<readonly SensorFacts[]> {
  const due = await store.dueByName({ names, now })
  return await withNotes(store, due)
}

/** Triggers with their sensors' records. */
export async function withNotes(
  store: Store,
  due: readonly SensorFacts['due'][],
): Promise<readonly SensorFacts[]> {
  if (due.length === 0) return []
  const names = due.map(({ trigger }) => trigger.name)
  const items = [recordKey('').item, openPollKey('').item]
  const notes = await store.stateEntries({ kind: 'sensor', names, items, limit: names.length * items.length })
  const byName = new Map<string, typeof notes>()
  for (const note of notes) byName.set(note.name, [...(byName.get(note.name) ?? []), note])
  return due.flatMap((one) => factsOf(one, byName.get(one.trigger.name) ?? []) ?? [])
}

/** Those observations that the sensor has not acted on; the same one twice is one. */
export async function freshOf(
  store: Store,
  { due, spec }: SensorFacts,
  { observations, now }: { observations: readonly Observation[]; now: Instant },
): Promise<readonly Observation[]> {
  if (observations.length === 0) return []
  const byDigest = new Map<string, Observation>()
  for (const observation of observations) {
    const digest = digestOf(spec, observation)
    if (!byDigest.has(digest)) byDigest.set(digest, observation)
  }
  const known = await store.seen({ trigger: due.trigger.name, digests: [...byDigest.keys()], now })
  return [...byDigest].flatMap(([digest, observation]) => (known.has(digest) ? [] : [observation]))
}

/** Commits one tick; false where it was computed from what no longer stands. */
export async function tickOne(context: CommitContext, tick: Tick): Promise<boolean> {
  const { store, onRuns, onTick } = context
  const committed = store.tick([tick])
  if (tick.runs.length > 0) onRuns()
  const [answer] = await committed
  if (answer !== 'ticked') return false
  onTick(tick)
  return true
}
