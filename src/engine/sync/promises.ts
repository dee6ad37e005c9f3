/**
 * Standing promises: how old the last success may be, and when partitions must be made. They are watched from their
 * definition on, so their first deadline is written before the definition. A removed promise is dropped when its
 * deadline has passed.
 */
import type { Job } from '../../kernel/job/job.js'
import { jobKey, jobSubject } from '../../kernel/sla/deadline.js'
import {
  freshnessChanges,
  freshnessKey,
  newFreshness,
  type Freshness,
  type FreshSubject,
} from '../../kernel/sla/freshness.js'
import {
  firstWatched,
  madeKey,
  madePromises,
  watchedChanges,
  type WatchedPartition,
} from '../../kernel/sla/made.js'
import type { StateChange, StateEntry, StateKey } from '../../kernel/state/state-entry.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** Definitions that may have promises. */
export interface Promising {
  readonly jobs?: readonly Job[] | undefined
  readonly triggers?: readonly Trigger[] | undefined
}

/** One standing promise: its entry, and the change that starts watching it. */
interface Standing {
  readonly key: StateKey
  begin(before: StateEntry | undefined): readonly StateChange[]
}

const tries = 5

/** Starts to watch promises that are not watched yet. Definitions without promises cost nothing. */
export async function watchPromises(store: Store, definitions: Promising, now: Instant): Promise<void> {
  let left = standing(definitions, now)
  // A success may change an entry meanwhile; then it is read again.
  for (let i = 0; i < tries && left.length > 0; i++) {
    const names = [...new Set(left.map(({ key }) => key.name))]
    const items = [...new Set(left.map(({ key }) => key.item))]
    const limit = names.length * items.length
    const known = new Map(
      (await store.stateEntries({ kind: 'promise', names, items, limit })).map((one) => [textOf(one), one]),
    )
    const stale: Standing[] = []
    for (const one of left) {
      const changes = one.begin(known.get(textOf(one.key)))
      if (changes.length > 0 && (await store.changeState({ changes, now })) === 'stale') stale.push(one)
    }
    left = stale
  }
}

/** The standing promises of definitions, without the deadlines of single runs. */
function standing({ jobs = [], triggers = [] }: Promising, now: Instant): readonly Standing[] {
  return [
    ...triggers.flatMap(({ name, sla, round, enabled }) =>
      sla?.notOlderThanMs === undefined || !enabled
        ? []
        : [fresh(sla.notOlderThanMs, triggerSubject(name, round !== undefined), { key: name, now })],
    ),
    ...jobs.flatMap((job) => [
      ...(job.sla?.notOlderThanMs === undefined || job.ended === true
        ? []
        : [fresh(job.sla.notOlderThanMs, jobFresh(job), { key: jobKey(job.name), now })]),
      ...made(job, now),
    ]),
  ]
}

/** The freshness subject of a trigger. */
function triggerSubject(name: string, isRound: boolean): FreshSubject {
  return { of: isRound ? 'round' : 'trigger', name, trigger: name, job: null }
}

function jobFresh(job: Job): FreshSubject {
  return { of: jobSubject(job), name: job.name, trigger: null, job: job.name }
}

function fresh(
  withinMs: number,
  subject: FreshSubject,
  { key, now }: { readonly key: string; readonly now: Instant },
): Standing {
  return {
    key: freshnessKey(key),
    begin: (before) => {
      const known = before?.value as unknown as Freshness | undefined
      if (known?.withinMs === withinMs) return []
      return freshnessChanges(newFreshness(withinMs, now, known), {
        subject,
        key,
        revision: before?.revision ?? 0,
      })
    },
  }
}

function made(job: Job, now: Instant): readonly Standing[] {
  if (job.ended === true) return []
  return madePromises(job).map((promise) => ({
    key: madeKey(job.name, promise.rule),
    begin: (before) => {
      const known = before?.value as unknown as WatchedPartition | undefined
      if (known?.promise === promise.promise) return []
      const first = firstWatched(promise, now)
      const { rule } = promise
      if (first === undefined && before === undefined) return []
      return watchedChanges(first, { job: job.name, rule, revision: before?.revision ?? 0 })
    },
  }))
}

function textOf({ name, item }: Pick<StateKey, 'name' | 'item'>): string {
  return `${name} ${item}`
}
