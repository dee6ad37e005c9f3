import { assertPartition, isAsset, partitionOfLabel } from '../../kernel/partition/asset.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { refuse } from '../../kernel/definition/errors.js'
import { readInstant, type InstantInput } from '../../kernel/definition/read-instant.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { randomRunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import { isJobsSource, runLabels } from '../../kernel/job/command-source.js'
import { endEffectFor, slotsFor, partitionAt } from '../../kernel/identity/occurrence.js'
import { runDeadlines } from '../../kernel/sla/deadline.js'
import { labelAt } from '../../kernel/partition/label.js'
import { toPayload } from '../../kernel/job/payload.js'
import { readDuration, readOptions, readPriority, type Written } from '../../kernel/definition/read-value.js'
import type { Labels, NewRun } from '../../kernel/run/run.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Transaction } from '../../store/postgres/enqueue-in.js'
import type { Enqueued } from '../../store/port.js'
import { debouncedRunAt, isBurstKey, type Burst } from '../../kernel/run/burst.js'
import { readBurst, type DebounceOptions, type ThrottleOptions } from './burst.js'
import { loadEndEffects } from '../features.js'
import { isOnManyHosts } from '../../formats/store-url.js'
import { shownUrl } from '../store/store-address.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'

/** How a run is enqueued. */
export interface EnqueueOptions extends ChangeOptions {
  /** Not before this instant. */
  readonly at?: InstantInput | undefined
  /** Not before this long from now; instead of `at`. */
  readonly delay?: string | number | undefined
  /** Higher goes first; default: the priority of the job. */
  readonly priority?: number | undefined
  /** While a run of the job with this key is unfinished, enqueueing returns that run instead of creating another. */
  readonly uniqueKey?: string | undefined
  /** Keeps the unique key for this long, also after the run is final. */
  readonly uniqueFor?: string | number | undefined
  /** Of several enqueues with one key, runs the last one. */
  readonly debounce?: DebounceOptions | undefined
  /** Of the enqueues with one key, runs the first one in each period. */
  readonly throttle?: ThrottleOptions | undefined
  /** Runs with the same concurrency key are performed one at a time, or as many as `concurrencyPerKey` allows. */
  readonly concurrencyKey?: string | undefined
  /** The partition that the run is about; for an asset one of its partitions. */
  readonly partition?: string | undefined
  /** Records the run in this transaction of the store's database: the run exists if that commits, and only then. */
  readonly tx?: Transaction | undefined
}

/** The parsed options of an enqueue. */
export interface EnqueueTerms {
  readonly dueAt: Instant
  readonly priority: number | undefined
  readonly uniqueKey: string | undefined
  readonly uniqueUntil: Instant | undefined
  readonly burst: Burst | undefined
  readonly concurrencyKey: string | undefined
  readonly partition: string | undefined
}

const optionNames: readonly (keyof EnqueueOptions)[] = [
  'at',
  'delay',
  'priority',
  'uniqueKey',
  'uniqueFor',
  'debounce',
  'throttle',
  'concurrencyKey',
  'partition',
  'tx',
  'dryRun',
  'by',
  'reason',
  'via',
  'tag',
  'alongside',
]

/** Checks the options of an enqueue; throws one error with all their faults. */
export function readEnqueueOptions(options: EnqueueOptions, now: Instant): EnqueueTerms {
  const place = placeOf()
  const input = readOptions(options, optionNames, place) ?? {}
  const uniqueFor = readDuration(input['uniqueFor'], anyDuration, within(place, 'uniqueFor'))
  const burst = readBurst(input, readKey, place)
  const uniqueKey = readKey(input['uniqueKey'], within(place, 'uniqueKey'))
  if (uniqueKey !== undefined && isBurstKey(uniqueKey))
    fault(
      within(place, 'uniqueKey'),
      'keys that begin with debounce: or throttle: are those of such enqueues',
    )
  const terms = {
    dueAt: readDueAt(input, now, place),
    priority: readPriority(input['priority'], within(place, 'priority')),
    uniqueKey: burst?.uniqueKey ?? uniqueKey,
    uniqueUntil: uniqueFor === undefined ? periodEnd(burst?.burst, now) : now + uniqueFor,
    burst: burst?.burst,
    concurrencyKey: readKey(input['concurrencyKey'], within(place, 'concurrencyKey')),
    partition: readKey(input['partition'], within(place, 'partition')),
  }
  if (input['uniqueFor'] !== undefined && input['uniqueKey'] === undefined) {
    fault(within(place, 'uniqueFor'), 'it has no effect without `uniqueKey`', 'with uniqueKey')
  }
  readTransaction(input['tx'], within(place, 'tx'))
  refuse('the enqueue', place.faults)
  return terms
}

function periodEnd(burst: Burst | undefined, now: Instant): Instant | undefined {
  return burst?.kind === 'throttle' ? now + burst.perMs : undefined
}

function readTransaction(value: unknown, place: Place): void {
  const { query } = (value ?? {}) as Partial<Transaction>
  if (value === undefined || typeof query === 'function') return
  fault(
    place,
    `${shown(value)} is not a transaction`,
    'a client of pg in a transaction, or an object with the same `query`',
  )
}

/** The run that an enqueue records. */
export function newRun(input: {
  job: Job
  payload: unknown
  terms: EnqueueTerms
  now: Instant
  labels?: Labels | undefined
}): NewRun {
  const { job, terms, labels } = input
  const { dueAt, uniqueKey, uniqueUntil, burst, concurrencyKey, partition } = terms
  if (isAsset(job)) assertPartition(job, partition)
  return {
    // Random even with a unique key: with a digest, two runs of one millisecond would have the same id.
    id: randomRunId(dueAt),
    job: job.name,
    origin: 'enqueue',
    dueAt,
    runAt: burst?.kind === 'debounce' ? debouncedRunAt(burst, { now: input.now, sinceAt: input.now }) : dueAt,
    priority: terms.priority ?? job.priority,
    partition,
    payload: toPayload(input.payload),
    slots: slotsFor({ job, concurrencyKey, partition }),
    ...endEffectFor(job),
    ...runDeadlines({ job }, dueAt),
    uniqueKey,
    uniqueUntil,
    burst,
    labels,
  }
}

/** Records runs in the caller's own transaction. */
export async function enqueueInTransaction(
  tx: Transaction,
  request: { storeUrl: string; runs: readonly NewRun[]; now: Instant },
): Promise<readonly Enqueued[]> {
  const { storeUrl: url, runs, now } = request
  if (!isOnManyHosts(url)) {
    const place = placeOf()
    fault(within(place, 'tx'), `${shownUrl(url)} is not in a database whose transactions it could join`)
    refuse('the enqueue', place.faults)
  }
  const { enqueueIn } = await import('../../store/postgres/enqueue-in.js')
  return await enqueueIn(tx, { url, runs, now, endEffects: await loadEndEffects() })
}

/** A manual run: it moves no cursor and changes no disposition. */
export function newManualRun(input: {
  job: Job
  trigger: StoredTrigger | undefined
  payload: unknown
  /** The partition; default: that of a run that is due now. */
  partition?: string | undefined
  now: Instant
  labels?: Labels | undefined
}): NewRun {
  const { job, now, labels } = input
  const trigger = input.trigger?.trigger
  const partition = input.partition ?? partitionNow(job, trigger, now)
  if (isAsset(job)) assertPartition(job, partition)
  const id = randomRunId(now)
  return {
    id,
    job: job.name,
    origin: 'manual',
    trigger: trigger?.name,
    version: input.trigger?.version,
    dueAt: now,
    runAt: now,
    priority: trigger?.priority ?? job.priority,
    partition,
    // Null is a payload like any other; only without a payload the trigger's is used.
    payload: input.payload === undefined ? trigger?.payload : toPayload(input.payload),
    slots: slotsFor({ job, trigger, partition }),
    // It is not an execution of the trigger, but its success counts for the trigger.
    ...endEffectFor(job, { sla: trigger?.sla }),
    ...runDeadlines({ job }, now),
    labels: isJobsSource(input.trigger?.source ?? '')
      ? { ...runLabels(input.trigger as StoredTrigger, { run: id, dueAt: now }).labels, ...labels }
      : labels,
  }
}

function partitionNow(job: Job, trigger: Trigger | undefined, now: Instant): string | undefined {
  if (job.asset === undefined) return undefined
  const label = trigger === undefined ? labelAt(job.asset.partitions, now) : partitionAt(trigger, job, now)
  return label === undefined ? undefined : partitionOfLabel(label)
}

const anyDuration = { min: 0, max: MAX_DURATION_MS, allowed: 'from 0s to 36525d' }

/** The year 10000: run ids and texts end before it. */
const endOfTime = 253_402_300_800_000

function readDueAt(input: Written, now: Instant, place: Place): Instant {
  const delayMs = readDuration(input['delay'], anyDuration, within(place, 'delay'))
  if (input['at'] !== undefined && input['delay'] !== undefined) {
    fault(within(place, 'delay'), 'it contradicts `at`', 'either of them')
  }
  const at = input['at'] === undefined ? now : readInstant(input['at'], within(place, 'at'))
  const dueAt = delayMs === undefined ? at : now + delayMs
  if (dueAt !== undefined && !(dueAt >= 0 && dueAt < endOfTime)) {
    fault(within(place, 'at'), 'it lies outside the years 1970 to 9999')
  }
  return dueAt ?? now
}

const longestKey = 512

function readKey(value: unknown, place: Place): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '' && value.length <= longestKey) return value
  return fault(place, `${shown(value)} is not a key`, `a text of 1 to ${longestKey} characters`)
}
