import type { Job } from '../../kernel/job/job.js'
import { isBurstKey } from '../../kernel/run/burst.js'
import type { Run } from '../../kernel/run/run.js'
import { deadlineChange, subjectKey, type Breach, type Deadline } from '../../kernel/sla/deadline.js'
import { freshnessChanges, freshnessKey, judgeFreshness, type Freshness } from '../../kernel/sla/freshness.js'
import {
  madeKey,
  madePromises,
  nextWatched,
  watchedChanges,
  type MadeRule,
  type WatchedPartition,
} from '../../kernel/sla/made.js'
import type { Sla } from '../../kernel/sla/sla.js'
import type { StateChange, StateEntry, StateKey } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import { HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'

/** The result of checking a deadline that has passed. */
export interface Judgement {
  readonly breaches: readonly Breach[]
  /** Other changes: the next deadline. */
  readonly changes: readonly StateChange[]
}

const nothing: Judgement = { breaches: [], changes: [] }

/** Checks a deadline that has passed. */
export async function judge(store: Store, deadline: Deadline, now: Instant): Promise<Judgement> {
  switch (deadline.rule) {
    case 'started-within':
    case 'finished-within':
    case 'finished-by':
      return await judgeRun(store, deadline, now)
    case 'not-older-than':
      return await judgeSuccess(store, deadline, now)
    case 'made-within':
    case 'made-by':
      return await judgePartition(store, { ...deadline, rule: deadline.rule }, now)
  }
}

/**
 * A cancelled or pruned run breaks no promise. Only stored facts count: the stored time of the end decides whether it is
 * late, and a run without a stored end has not ended, although its worker may be waiting to store one.
 */
async function judgeRun(store: Store, deadline: Deadline, now: Instant): Promise<Judgement> {
  const { lookAt: _, ...promised } = deadline
  const broken = { breaches: [{ ...promised, at: now }], changes: [] }
  // The end of a cycle removes the deadlines that it met.
  if (deadline.of === 'round' && deadline.rule !== 'started-within') return broken
  const run = await store.run(deadline.run ?? '')
  if (run === undefined || run.state === 'cancelled') return nothing
  const lastAt = deadline.deadlineAt + (await putOffMs(store, deadline, run))
  const begin = deadline.rule === 'started-within' ? await beginOf(store, run) : undefined
  const keptAt = deadline.rule === 'started-within' ? begin?.at : run.finishedAt
  if (keptAt === undefined) return now > lastAt ? broken : watchedAgain({ ...deadline, deadlineAt: lastAt })
  if (keptAt > lastAt) return broken
  return begin?.isClaim === true ? watchedAgain({ ...deadline, lookAt: nextLookAt(begin.at, now) }) : nothing
}

/** When a run began. While its attempt runs only the claim is known. */
async function beginOf(
  store: Store,
  run: Run,
): Promise<{ readonly at: Instant; readonly isClaim: boolean } | undefined> {
  // For a run with a single attempt, its row has the same facts and was already read.
  if (run.attempt === 0) return undefined
  if (run.attempt === 1 && run.startedAt !== undefined) return { at: run.startedAt, isClaim: false }
  // A worker may release a claimed attempt that never began.
  const begun = (await store.attempts(run.id)).find(
    ({ startedAt, end }) => startedAt !== undefined || end !== 'released',
  )
  if (begun === undefined) return undefined
  const { startedAt, claimedAt, end } = begun
  return { at: startedAt ?? claimedAt, isClaim: startedAt === undefined && end === undefined }
}

/**
 * An attempt that was claimed in time may have waited in its worker; the time of its begin is stored with its end. The
 * deadline is checked again later, with growing delays, so that a long attempt costs only a few checks.
 */
function nextLookAt(claimedAt: Instant, now: Instant): Instant {
  return now + Math.min(HOUR_MS, Math.max(1000, 3 * (now - claimedAt)))
}

function watchedAgain(deadline: Deadline): Judgement {
  return { breaches: [], changes: [deadlineChange(deadline)] }
}

/** By how much later enqueues have delayed a debounced run: its promise is measured from when it may begin. A retry moves that too, but only after the first claim. */
async function putOffMs(store: Store, { withinMs, dueAt, deadlineAt }: Deadline, run: Run): Promise<number> {
  const isPutOff = run.uniqueKey !== undefined && isBurstKey(run.uniqueKey)
  if (withinMs === null || !isPutOff) return 0
  const [first] = await store.attempts(run.id)
  const mightAt = Math.min(run.runAt, first?.claimedAt ?? Infinity)
  return Math.max(0, mightAt + withinMs - Math.max(deadlineAt, dueAt + withinMs))
}

/** The state entry of a promise, if this deadline is still its current one. */
async function watchedBy<Value extends { readonly deadlineAt: Instant }>(
  store: Store,
  key: StateKey,
  { deadlineAt }: Deadline,
): Promise<(Omit<StateEntry, 'value'> & { readonly value: Value }) | undefined> {
  const { kind, name, item } = key
  const [entry] = await store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  const value = entry?.value as unknown as Value | undefined
  return entry === undefined || value?.deadlineAt !== deadlineAt ? undefined : { ...entry, value }
}

async function judgeSuccess(store: Store, deadline: Deadline, now: Instant): Promise<Judgement> {
  const key = subjectKey(deadline)
  const known = await watchedBy<Freshness>(store, freshnessKey(key), deadline)
  if (known === undefined) return nothing
  const { of, name, trigger, job } = deadline
  const { value, revision } = known
  if ((await promisedNow(store, deadline))?.notOlderThanMs !== value.withinMs)
    return { breaches: [], changes: [{ ...freshnessKey(key), revision, value: undefined }] }
  const { breaches, next } = judgeFreshness(value, { of, name, trigger, job }, now)
  return { breaches, changes: freshnessChanges(next, { subject: { of, name, trigger, job }, key, revision }) }
}

async function judgePartition(
  store: Store,
  deadline: Deadline & { readonly rule: MadeRule },
  now: Instant,
): Promise<Judgement> {
  const { name: job, rule } = deadline
  const known = await watchedBy<WatchedPartition>(store, madeKey(job, rule), deadline)
  if (known === undefined) return nothing
  const { value, revision } = known
  const promise = madePromises((await jobNow(store, job)) ?? {}).find(
    (one) => one.rule === rule && one.promise === value.promise,
  )
  const next = promise === undefined ? undefined : nextWatched(promise, value)
  const changes = watchedChanges(next, { job, rule, revision })
  if (promise === undefined) return { breaches: [], changes }
  const doneAt = await madeAt(store, job, value.partition)
  const isKept = doneAt !== undefined && doneAt <= deadline.deadlineAt
  return { breaches: isKept ? [] : [{ ...deadline, at: now }], changes }
}

/** When a partition was last produced, as stored by the ends of its runs. */
async function madeAt(store: Store, asset: string, partition: string): Promise<Instant | undefined> {
  const key = { kind: 'partition', names: [asset], items: [partition], limit: 1 } as const
  const [entry] = await store.stateEntries(key)
  return (entry?.value as { readonly doneAt?: Instant | null } | undefined)?.doneAt ?? undefined
}

/** The SLA in the current definition of a subject; undefined if it is gone or disabled. */
async function promisedNow(store: Store, { of, name }: Deadline): Promise<Sla | undefined> {
  if (of === 'job' || of === 'asset') return (await jobNow(store, name))?.sla
  const [stored] = await store.triggers({ names: [name] })
  return stored?.active === true && stored.trigger.enabled ? stored.trigger.sla : undefined
}

async function jobNow(store: Store, name: string): Promise<Job | undefined> {
  const found = (await store.jobs()).find(({ job }) => job.name === name)?.job
  return found?.ended === true ? undefined : found
}
