import type { Observation } from '../sensor.js'
import type { Sensed } from './read-poll.js'
import type { Events } from '../../../engine/events.js'
import { digestOf, endTick, isStillOurs, partTick, releaseTick, type SensorFacts } from '../plan.js'
import { openPollKey, readRecords, recordOf } from '../record.js'
import { wakeForCommit } from '../../../engine/worker/wake-for-commit.js'
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
  /** Called while a tick with runs is being committed, so that a worker's turn can join the commit. */
  readonly onRuns: () => void
  readonly events: Events
}

/** A poll whose result was written. */
export interface CommittedPoll {
  readonly tick: Tick
  /** How many of its observations were new. */
  readonly fresh: number
  /** How many polls in a row have failed. */
  readonly failures: number
}

/**
 * Commits the result of a poll: in one transaction or, if it is large, in parts of which the last one moves the state.
 * Undefined if the sensor was reset, paused, ended or taken over meanwhile: then the result is discarded.
 */
export async function commitPoll(
  context: CommitContext,
  claimed: SensorFacts,
  end: { readonly sensed: Sensed; readonly startedAt: Instant; readonly isHinted: () => boolean },
): Promise<CommittedPoll | undefined> {
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
      if (isLast) {
        const { failures } = recordOf(tick.stateChanges?.[0]?.value)
        return { tick, fresh: sum, failures }
      }
      freshInAll = sum
      written += perTick
      facts = next
      continue
    }
    stale += 1
    const current = await readFacts(context.store, [facts.due.trigger.name], now)
    if (current[0] === undefined || !isStillOurs(current[0], claimed, now)) break
    // Only deliveries, hints and definitions came in between, which do not affect the result.
    const { lagMs, failures } = claimed.record
    facts = { ...current[0], record: { ...current[0].record, lagMs, failures } }
  }
  await releasePoll(context, claimed)
  return undefined
}

/** Releases a claimed poll, if it is still claimed: the next process polls again. */
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
    // An ended trigger has no ticks, so only the state entry is removed.
    const change = { ...openPollKey(name), revision: facts.openRevision, value: undefined }
    await store.changeState({ changes: [change], now: at })
    return
  }
}

/** The named sensors with their stored parts, without those that do not exist. */
export async function readFacts(
  store: Store,
  names: readonly string[],
  now: Instant,
): Promise<readonly SensorFacts[]> {
  return await withRecords(store, await store.dueByName({ names, now }))
}

/** Triggers with their sensors' records. */
export async function withRecords(
  store: Store,
  due: readonly SensorFacts['due'][],
): Promise<readonly SensorFacts[]> {
  const stored = await readRecords(
    store,
    due.map(({ trigger }) => trigger.name),
  )
  return due.flatMap((one) => {
    const { name, schedule } = one.trigger
    return schedule.kind === 'sensor' ? [{ due: one, spec: schedule, ...stored(name) }] : []
  })
}

/** The observations that are new; a repeated one counts once. */
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

/** Commits one tick; false if it was planned from stale data. */
export async function tickOne(context: CommitContext, tick: Tick): Promise<boolean> {
  const { store, onRuns, events } = context
  const { trigger, at, runs, ranges } = tick
  const committed = store.tick([tick])
  const [answer] = runs.length === 0 ? await committed : await wakeForCommit(store, committed, onRuns)
  if (answer !== 'ticked') return false
  if (runs.length > 0) events.emit('tick', { trigger, at, runs, ranges })
  return true
}
