/**
 * Decides what the polls of a sensor write; pure. A poll is two ticks of its trigger. The first claims it: the next poll
 * is set to the end of a lease, and a state entry names the owner of the poll. The second commits the result: the runs,
 * the seen keys, the new state and the next poll, in one transaction. A process that dies in between has written
 * nothing: the lease expires, and the poll is repeated from the stored state.
 */
import type { Instant } from '../../time/instant.js'
import { firstAllowed, YEAR_MS } from '../../kernel/calendar/calendar.js'
import { holdsAt } from '../../kernel/hold/hold.js'
import { fingerprintOf, runIdOf } from '../../kernel/identity/identity.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import { endEffectFor, slotsFor } from '../../kernel/identity/occurrence.js'
import { runDeadlines } from '../../kernel/sla/deadline.js'
import type { Sensed } from './polling/read-poll.js'
import { retryDelayMs } from '../../kernel/job/retry.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { SensorSpec } from '../../kernel/trigger/schedule.js'
import type { Observation } from './sensor.js'
import {
  addEvaluation,
  openPollKey,
  recordKey,
  type NewEvaluation,
  type OpenPoll,
  type SensorRecord,
  type StoredRecord,
} from './record.js'
import type { SeenKey, Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'

/** A sensor with its trigger, its record, and its current poll. */
export interface SensorFacts extends StoredRecord {
  readonly due: DueTrigger
  readonly spec: SensorSpec
}

/** A claim of a poll: poll when its tick is committed, or wait. */
export interface PollClaim {
  readonly kind: 'poll' | 'wait'
  readonly tick: Tick
  /** The sensor after the tick is committed. */
  readonly facts: SensorFacts
}

/** How long storing the result of a poll may take before another process takes over the poll. */
const commitMs = 3000

/** How many polls in a row may return `more` before the sensor waits a moment. */
const mostPages = 100
const pageRestMs = 1000

/** After this many failures in a row a sensor counts as broken. */
const brokenAfter = 5

const longestBackOffMs = 900_000
const shortestBackOffMs = 1000

/** Claims a poll, unless the sensor is paused or another process polls it. */
export function claimPoll(facts: SensorFacts, { now, id }: { now: Instant; id: string }): PollClaim {
  const { due, spec, open, record } = facts
  const waitUntil = (nextAt: Instant | undefined): PollClaim => {
    const tick = tickOf(facts, now, { nextAt })
    return { kind: 'wait', tick, facts: afterTick(facts, tick) }
  }
  if (!isPolled(facts, now)) return waitUntil(pauseOf(facts, now)?.untilAt)
  if (open !== undefined && open.untilAt > now) return waitUntil(open.untilAt)
  const { calendar } = due.trigger.schedule
  const allowedAt = calendar === undefined ? now : (firstAllowed(calendar, now) ?? now + YEAR_MS)
  if (allowedAt > now) return waitUntil(allowedAt)
  const claimed = openTick(facts, { id, sinceAt: now, untilAt: leaseEnd(spec, now) }, now)
  const lagMs = Math.max(0, now - (due.nextAt ?? now))
  // A resumed sensor starts again without failures.
  const failures = due.holds.some(({ target }) => target === holdTarget(due)) ? 0 : record.failures
  return {
    kind: 'poll',
    tick: claimed.tick,
    facts: { ...claimed.facts, record: { ...record, lagMs, failures } },
  }
}

/** Whether the result of a poll may still be written: no process took it over, and the sensor was neither reset nor paused. */
export function isStillOurs(facts: SensorFacts, claimed: SensorFacts, now: Instant): boolean {
  const { open, record } = facts
  if (!isPolled(facts, now)) return false
  return open?.id === claimed.open?.id && record.generation === claimed.record.generation
}

/** Releases a poll without a result: the next process polls again. */
export function releaseTick(facts: SensorFacts, now: Instant): Tick {
  const nextAt = isPolled(facts, now) ? now : facts.due.nextAt
  return tickOf(facts, now, { nextAt, stateChanges: [closing(facts)] })
}

/** Writes a part of many observations; the state stays, so that after a crash before the last part the poll is repeated. */
export function partTick(
  facts: SensorFacts,
  observations: readonly Observation[],
  now: Instant,
): Pick<PollClaim, 'tick' | 'facts'> {
  const open = facts.open && { ...facts.open, untilAt: leaseEnd(facts.spec, now) }
  const extended = openTick(facts, open, now)
  return { ...extended, tick: { ...extended.tick, ...found(facts, observations, now) } }
}

/** The result of a poll with what is known besides its return value. */
export interface Ending {
  readonly now: Instant
  /** The new observations that are not written yet. */
  readonly fresh: readonly Observation[]
  /** The total number of new observations. */
  readonly freshInAll: number
  readonly startedAt: Instant
  /** Whether a hint arrived during the poll. */
  readonly isHinted: boolean
}

/** Writes the end of a poll: its last observations, the state, the record of the sensor, and the next poll. */
export function endTick(facts: SensorFacts, sensed: Sensed, ending: Ending): Tick {
  const { now, fresh, freshInAll, startedAt } = ending
  const { kind, reason = null } = verdictOf(sensed, freshInAll)
  const record = recordAfter(facts.record, sensed, ending)
  const changes = evaluated(facts, record, {
    kind,
    reason,
    more: kind === 'no-trigger' && sensed.more,
    untilAt: now,
    observations: sensed.observations.length,
    fresh: freshInAll,
    tookMs: now - startedAt,
  })
  return tickOf(facts, now, {
    nextAt: nextPollAt(facts, { sensed, record, ending }),
    ...found(facts, fresh, now),
    stateChanges: [...changes, closing(facts)],
  })
}

/** The evaluation of a poll; if none of its observations is new, it is `no-trigger`. */
export function verdictOf(
  { kind, reason }: Pick<Sensed, 'kind' | 'reason'>,
  fresh: number,
): Pick<Sensed, 'kind' | 'reason'> {
  const isOld = kind === 'trigger' && fresh === 0
  return isOld ? { kind: 'no-trigger', reason: 'everything found was seen before' } : { kind, reason }
}

/** Writes delivered observations; the next poll does not change. */
export function deliveryTick(facts: SensorFacts, fresh: readonly Observation[], now: Instant): Tick {
  const { record } = facts
  const counted = { ...record, found: record.found + fresh.length, lastFoundAt: now }
  const counts = { observations: fresh.length, fresh: fresh.length, tookMs: 0 }
  const changes = evaluated(facts, counted, { kind: 'delivered', reason: null, untilAt: now, ...counts })
  return tickOf(facts, now, { ...found(facts, fresh, now), stateChanges: changes })
}

/** Makes a sensor due for a poll immediately. */
export function hintTick(facts: SensorFacts, now: Instant): Tick {
  return tickOf(facts, now, { nextAt: now })
}

/** The sensor after a tick that changes no record. */
function afterTick(facts: SensorFacts, { cursorAt, nextAt }: Tick): SensorFacts {
  const { due } = facts
  return { ...facts, due: { ...due, revision: due.revision + 1, cursorAt, nextAt } }
}

/** A result within this time after the abort still counts, so that a slow sensor makes progress. */
export function pollGraceMs(timeoutMs: number): number {
  return Math.min(timeoutMs, 2000)
}

/** Whether this many failures in a row pause the sensor. */
export function isToBePaused({ pauseAfter }: SensorSpec, failures: number): boolean {
  return pauseAfter !== undefined && failures >= pauseAfter
}

/** Whether a sensor counts as broken: it is still polled with backoff, and one success ends this state. */
export function isBroken({ failures }: Pick<SensorRecord, 'failures'>): boolean {
  return failures >= brokenAfter
}

/** The delay after this many failures in a row: it doubles from the interval, with jitter from the name of the sensor. */
export function backOffAfter({ everyMs }: SensorSpec, name: string, failures: number): number {
  const delayMs = Math.max(everyMs, shortestBackOffMs)
  const maxDelayMs = Math.max(delayMs, longestBackOffMs)
  const policy = { attempts: Infinity, backoff: 'exponential', delayMs, maxDelayMs, jitter: 0.2 } as const
  return retryDelayMs(policy, failures, name)
}

/** What makes two observations of a sensor the same. */
export function digestOf({ dedupeBy }: SensorSpec, { key, partition }: Observation): string {
  return fingerprintOf(JSON.stringify(dedupeBy === 'key-and-partition' ? [key, partition] : [key]))
}

/** Whether a sensor is polled: it is not ended, disabled or paused. */
export function isPolled(facts: Pick<SensorFacts, 'due'>, now: Instant): boolean {
  const { active, trigger } = facts.due
  return active && trigger.enabled && pauseOf(facts, now) === undefined
}

/** The pause that is in force on a sensor. */
function pauseOf({ due }: Pick<SensorFacts, 'due'>, now: Instant): DueTrigger['holds'][number] | undefined {
  return due.holds.find((hold) => hold.target === holdTarget(due) && holdsAt(hold, now))
}

function holdTarget({ trigger }: DueTrigger): string {
  return `trigger:${trigger.name}`
}

function leaseEnd({ timeoutMs }: SensorSpec, now: Instant): Instant {
  return now + timeoutMs + pollGraceMs(timeoutMs) + commitMs
}

/** A tick that changes only what is given. */
function tickOf({ due }: SensorFacts, now: Instant, changes: Partial<Tick>): Tick {
  return {
    trigger: due.trigger.name,
    revision: due.revision,
    at: now,
    cursorAt: Math.max(due.cursorAt, now),
    nextAt: due.nextAt,
    chainRun: undefined,
    runs: [],
    ranges: [],
    supersede: undefined,
    ...changes,
  }
}

/** A tick that records a poll in progress; the next poll is set to the end of its lease. */
function openTick(
  facts: SensorFacts,
  open: OpenPoll | undefined,
  now: Instant,
): Pick<PollClaim, 'tick' | 'facts'> {
  const { due, openRevision } = facts
  const note = { ...openPollKey(due.trigger.name), revision: openRevision, value: open }
  const tick = tickOf(facts, now, { nextAt: open?.untilAt, stateChanges: [note] })
  return { tick, facts: { ...afterTick(facts, tick), open, openRevision: openRevision + 1 } }
}

function closing({ due, openRevision }: SensorFacts): StateChange {
  return { ...openPollKey(due.trigger.name), revision: openRevision, value: undefined }
}

/** The changes that write a record, first in the list, and a new evaluation. */
function evaluated(
  { due, recordRevision }: SensorFacts,
  counted: SensorRecord,
  evaluation: NewEvaluation,
): readonly StateChange[] {
  const { name } = due.trigger
  const { record, stateChanges } = addEvaluation(name, counted, evaluation)
  return [{ ...recordKey(name), revision: recordRevision, value: record }, ...stateChanges]
}

function found(
  facts: SensorFacts,
  fresh: readonly Observation[],
  now: Instant,
): { readonly runs: readonly NewRun[]; readonly seen: readonly SeenKey[] } {
  const { due, spec } = facts
  const untilAt = spec.dedupeMs === undefined ? undefined : now + spec.dedupeMs
  return {
    runs: fresh.map((observation) => newSensedRun(due, observation, now)),
    seen: fresh.map((observation) => ({ digest: digestOf(spec, observation), untilAt })),
  }
}

/** The run that an observation becomes. */
function newSensedRun(due: DueTrigger, { key, partition, payload }: Observation, now: Instant): NewRun {
  const { trigger, jobDefinition: job } = due
  return {
    id: runIdOf({ at: now, parts: ['sensed', trigger.name, key, partition] }),
    job: job.name,
    origin: 'sensor',
    trigger: trigger.name,
    version: due.version,
    dueAt: now,
    runAt: now,
    priority: trigger.priority ?? job.priority,
    partition,
    payload: payload ?? trigger.payload,
    slots: slotsFor({ job, trigger, partition }),
    ...endEffectFor(job),
    ...runDeadlines({ job }, now),
    labels: { ...trigger.labels, key },
  }
}

function recordAfter(record: SensorRecord, sensed: Sensed, { now, freshInAll }: Ending): SensorRecord {
  const isFailed = sensed.kind === 'error'
  return {
    ...record,
    isInitialized: record.isInitialized || sensed.state !== undefined,
    state: sensed.state === undefined ? record.state : sensed.state.value,
    polls: record.polls + 1,
    found: record.found + freshInAll,
    failures: isFailed ? record.failures + 1 : 0,
    pages: sensed.more && record.pages < mostPages ? record.pages + 1 : 0,
    lastPollAt: now,
    lastSuccessAt: isFailed ? record.lastSuccessAt : now,
    lastFoundAt: freshInAll > 0 ? now : record.lastFoundAt,
  }
}

function nextPollAt(
  { due, spec }: SensorFacts,
  { sensed, record, ending }: { sensed: Sensed; record: SensorRecord; ending: Ending },
): Instant {
  const { now, isHinted } = ending
  if (sensed.kind === 'error') return now + backOffAfter(spec, due.trigger.name, record.failures)
  if (sensed.more) return record.pages > 0 ? now : now + Math.min(spec.everyMs, pageRestMs)
  return isHinted ? now : now + spec.everyMs
}
