import type { TriggerKinds } from '../../engine/trigger-kind.js'
import type { Store } from '../../store/port.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { holdView } from '../../wire/views/definitions.js'
import { pendingView } from '../../wire/views/runs.js'
import { whyAllPending } from '../runs/waiting.js'
import { clockChanges } from './due.js'
import { missedSince, withLimits } from './missed.js'
import { remembered } from './remembered.js'
import { runBrief } from './run-brief.js'
import { series } from './series.js'
import { upcoming, type Upcoming } from './upcoming.js'
import { usualDurations, type UsualDuration } from './usual.js'

/** How many of each kind are shown. */
const shown = 50
/** How many of them may be failed runs of the same trigger, job and partition. */
const shownOfOne = 10
/** A run that waits for longer than this is late. */
const lateMs = MINUTE_MS
/** How long expensive parts that rarely change are cached. */
const freshMs = 5000

/** Reads the first page. */
export type ReadNow = (given: {
  readonly store: Store
  readonly kinds: TriggerKinds
  readonly now: Instant
}) => Promise<unknown>

/** Creates the reader of the first page, which caches expensive parts. */
export function nowReader(): ReadNow {
  const rememberUpcoming = remembered<unknown>(freshMs)
  const rememberDay = remembered<unknown>(freshMs)
  return async ({ store, kinds, now }) => {
    const [troubled, missed, queues, workers, holds] = [
      await store.troubled({ limit: shown + 1, each: shownOfOne }),
      await missedSince(store, now - DAY_MS),
      await store.queues(),
      await store.workers(),
      await store.holds({ openAt: now }),
    ]
    // A trigger that was just added or paused is shown immediately.
    const { audit } = await store.pulse()
    const live = workers.filter(({ leaseUntil }) => leaseUntil >= now)
    return {
      at: now,
      troubled: { ...some(troubled.runs.map(runBrief)), lookedAt: troubled.lookedAt },
      missed: some(await withLimits(store, missed)),
      late: await lateRuns(store, now),
      running: await runningRuns(store),
      queues,
      workers: {
        live: live.length,
        running: live.reduce((sum, { running }) => sum + running, 0),
        slots: live.reduce((sum, { slots = 0 }) => sum + slots, 0),
      },
      holds: holds.map(holdView),
      upcoming: await rememberUpcoming({ now, state: audit }, () => nextHour(store, { kinds, now })),
      day: await rememberDay({ now, state: 0 }, () => lastDay(store, now)),
    }
  }
}

function some<Item>(items: readonly Item[]) {
  return { items: items.slice(0, shown), more: items.length > shown }
}

async function lateRuns(store: Store, now: Instant) {
  const late = await store.late({ now, byMs: lateMs, limit: shown + 1 })
  const pending = await whyAllPending(store, { runs: late.slice(0, shown), now })
  return some(
    late.map((run) => ({ ...runBrief(run), pending: (pending.get(run.id) ?? []).map(pendingView) })),
  )
}

async function runningRuns(store: Store) {
  const running = await store.runs({ state: 'running', limit: shown + 1 })
  const usual = await usualDurations(
    store,
    running.flatMap(({ trigger }) => trigger ?? []),
  )
  return some(
    running.map((run) => ({
      ...runBrief(run),
      // The start of a handler is stored with its end; until then the claim is the best approximation.
      startedAt: run.startedAt ?? run.claimedAt,
      usual: usual.get(run.trigger ?? ''),
    })),
  )
}

async function nextHour(store: Store, { kinds, now }: { kinds: TriggerKinds; now: Instant }) {
  const next = await upcoming(store, { kinds, now, untilAt: now + HOUR_MS })
  const names = next.instants.flatMap(({ triggers }) => triggers.map(({ trigger }) => trigger.name))
  return { ...next, instants: instantsView(next, await usualDurations(store, names)) }
}

function instantsView({ instants }: Upcoming, usual: ReadonlyMap<string, UsualDuration>) {
  return instants.map(({ at, count, triggers }) => ({
    at,
    count,
    triggers: triggers.map((stored) => {
      const { name, job } = stored.trigger
      return { name, job, change: clockChanges(stored)(at), usual: usual.get(name) }
    }),
  }))
}

async function lastDay(store: Store, now: Instant) {
  const bucketMs = 5 * MINUTE_MS
  const untilAt = now - (now % bucketMs) + bucketMs
  return await series(store, { fromAt: untilAt - DAY_MS, untilAt, bucketMs })
}
