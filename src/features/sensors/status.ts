import { ErrorTracer } from '../../engine/worker/error-tracer.js'
import { poll } from './polling/poll.js'
import { freshOf, readFacts } from './polling/commit.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { holdsAt, type Hold } from '../../kernel/hold/hold.js'
import type { Json } from '../../kernel/definition/json.js'
import { toPayload } from '../../kernel/job/payload.js'
import type { ConfiguredSensor, Observation } from './sensor.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import { digestOf, hintTick, isBroken, isPolled, verdictOf } from './plan.js'
import {
  keptEvaluations,
  openPollKey,
  readRecords,
  recordKey,
  type Evaluation,
  type SensorRecord,
  type StoredRecord,
} from './record.js'
import type { SensorSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'

/** A sensor and its condition. */
export interface SensorInfo {
  readonly name: string
  /** What kind it is: `s3`, `sql`, `http` …, or `custom`. */
  readonly type: string
  readonly job: string
  /** `waiting` for its first poll, `ok`, `failing`, `broken` after five failures in a row, `paused`, `off`, or `ended`. */
  readonly condition: 'waiting' | 'ok' | 'failing' | 'broken' | 'paused' | 'off' | 'ended'
  readonly spec: SensorSpec
  /** When it is polled next; during a poll, when another process would take it over. */
  readonly nextAt: Instant | undefined
  /** Since when a poll is in progress, if one is. */
  readonly pollingSinceAt: Instant | undefined
  /** The pause that is in force. */
  readonly pause: Hold | undefined
  readonly record: SensorRecord
}

/** All sensors by name, or the named one. */
export async function listSensors(
  store: Store,
  { now, name }: { readonly now: Instant; readonly name?: string | undefined },
): Promise<readonly SensorInfo[]> {
  const stored = await store.triggers(name === undefined ? {} : { names: [name] })
  const sensors = stored.filter(({ trigger }) => trigger.schedule.kind === 'sensor')
  if (sensors.length === 0) return []
  const names = sensors.map(({ trigger }) => trigger.name)
  const [records, holds] = [await readRecords(store, names), await store.holds({ openAt: now })]
  return sensors.map((one) => infoOf(one, { stored: records(one.trigger.name), holds, now }))
}

/** The named sensor and its condition. */
export async function sensorInfo(store: Store, name: string, now: Instant): Promise<SensorInfo> {
  const [info] = await listSensors(store, { now, name })
  if (info !== undefined) return info
  const known = (await store.triggers()).filter(({ trigger }) => trigger.schedule.kind === 'sensor')
  throw unknownSensor(
    name,
    known.map(({ trigger }) => trigger.name),
  )
}

/** The evaluations of a sensor, newest first. */
export async function sensorHistory(
  store: Store,
  name: string,
  now: Instant,
): Promise<readonly Evaluation[]> {
  const { record } = await sensorInfo(store, name, now)
  const notes = await store.stateEntries({ kind: 'evaluation', names: [name], limit: keptEvaluations })
  const older = notes.map(({ value }) => value as Evaluation)
  const all = record.last === null ? older : [record.last, ...older]
  return all.toSorted((a, b) => b.number - a.number)
}

/** The result of a preview. */
export interface SensorPreview {
  readonly kind: 'trigger' | 'no-trigger' | 'error'
  readonly reason: string | undefined
  /** What was found, and whether it would become a run. */
  readonly observations: readonly (Observation & { readonly isNew: boolean })[]
  readonly more: boolean
  /** The state it began with; undefined if it began with `init`. */
  readonly before: Json | undefined
  /** The new state. */
  readonly after: Json | undefined
}

/** Polls a sensor from its own state or a given one, and changes nothing. */
export async function previewSensor(
  store: Store | undefined,
  request: {
    readonly name: string
    readonly configured: ConfiguredSensor
    /** Its definition, if the store does not have the sensor yet. */
    readonly spec: SensorSpec | undefined
    readonly state?: unknown
    readonly clock: Clock
    readonly now: Instant
  },
): Promise<SensorPreview> {
  const { name, configured, clock, now } = request
  const [facts] = store === undefined ? [] : await readFacts(store, [name], now)
  const spec = facts?.spec ?? request.spec
  if (spec === undefined) throw unknownSensor(name, [])
  await refuseForeign(name, spec, request.state)
  const stored = facts?.record.isInitialized === true ? { value: facts.record.state } : undefined
  const state = request.state === undefined ? stored : { value: toPayload(request.state) as Json }
  const { timezone, timeoutMs } = spec
  const stop = new AbortController().signal
  const asked = { name, configured, state, now, timezone, timeoutMs, clock, stop }
  const { sensed } = await poll({ ...asked, tracer: new ErrorTracer(), onLateError: () => undefined })
  const { observations, more } = sensed
  const found =
    store === undefined || facts === undefined
      ? observations
      : await freshOf(store, facts, { observations, now })
  const fresh = new Set(found.map((one) => digestOf(spec, one)))
  return {
    ...verdictOf(sensed, found.length),
    observations: observations.map((one) => ({ ...one, isNew: fresh.delete(digestOf(spec, one)) })),
    more,
    before: state?.value,
    after: sensed.state?.value,
  }
}

/** The result of a reset. */
export interface SensorReset {
  /** How many observations it has forgotten; undefined in a dry run, because they are counted when they are deleted. */
  readonly forgotten: number | undefined
}

const forgetAtOnce = 10_000
const tries = 20

/** Makes a sensor start again, or from a given state; its seen keys are deleted only on request. It is polled immediately. */
export async function resetSensor(
  store: Store,
  request: {
    readonly name: string
    readonly keys: boolean
    readonly state?: unknown
    readonly now: Instant
  } & DryRun,
): Promise<SensorReset> {
  const { name, keys, now } = request
  const { spec } = await sensorInfo(store, name, now)
  await refuseForeign(name, spec, request.state)
  const state = toPayload(request.state)
  // Keys are counted only when they are deleted.
  const forgotten = request.dryRun === true ? undefined : keys ? await forgetKeys(store, name) : 0
  for (let i = 0; i < tries; i++) {
    const { record, recordRevision, open } = (await readRecords(store, [name]))(name)
    const value: SensorRecord = {
      ...record,
      generation: record.generation + 1,
      isInitialized: state !== undefined,
      state: state ?? null,
      failures: 0,
      pages: 0,
    }
    const change = { ...recordKey(name), revision: recordRevision, value }
    // Written again, so that a poll that is committed in parts notices the change at its next part.
    const fence = open === undefined ? [] : [{ ...openPollKey(name), value: open }]
    if ((await store.changeState({ changes: [change, ...fence], now })) === 'stale') continue
    await lookAtOnce(store, name, now)
    return { forgotten }
  }
  throw new RotaError('STORE_BUSY', `the sensor ${name} kept changing while it was being reset`)
}

/** A state that its sensor cannot read would fail every poll from then on. */
async function refuseForeign(name: string, { type }: SensorSpec, state: unknown): Promise<void> {
  if (state === undefined) return
  const { stateFaults } = await import('./kinds/read-state.js')
  refuse(`that state of the ${type} sensor ${name}`, stateFaults(type, state))
}

/** Deletes everything that is stored about an ended sensor. */
export async function forgetSensor(store: Store, name: string, now: Instant): Promise<void> {
  await forgetKeys(store, name)
  for (const kind of ['sensor', 'evaluation'] as const) {
    const notes = await store.stateEntries({ kind, names: [name], limit: keptEvaluations + 2 })
    await store.changeState({
      changes: notes.map((note) => ({ ...note, revision: undefined, value: undefined })),
      now,
    })
  }
}

/** The error for an unknown sensor. */
export function unknownSensor(name: string, known: readonly string[]): RotaError {
  return new RotaError(
    'TRIGGER_UNKNOWN',
    noneNamed('sensor is named', name, { known, list: 'rota sensor list' }),
  )
}

async function forgetKeys(store: Store, name: string): Promise<number> {
  let sum = 0
  for (let count = forgetAtOnce; count === forgetAtOnce; sum += count) {
    count = await store.forgetSeen({ trigger: name, limit: forgetAtOnce })
  }
  return sum
}

/** A poll in progress is discarded when it ends, and the sensor is then polled again. */
async function lookAtOnce(store: Store, name: string, now: Instant): Promise<void> {
  const [facts] = await readFacts(store, [name], now)
  if (facts === undefined || !isPolled(facts, now) || (facts.open?.untilAt ?? 0) > now) return
  await store.tick([hintTick(facts, now)])
}

function infoOf(
  { trigger, nextAt, active }: StoredTrigger,
  { stored, holds, now }: { stored: StoredRecord; holds: readonly Hold[]; now: Instant },
): SensorInfo {
  const { name, job, enabled } = trigger
  const { record, open } = stored
  const pause = holds.find((hold) => hold.target === `trigger:${name}` && holdsAt(hold, now))
  const spec = trigger.schedule as SensorSpec
  return {
    name,
    type: spec.type,
    job,
    condition: conditionOf(record, { active, enabled, isPaused: pause !== undefined }),
    spec,
    nextAt,
    pollingSinceAt: open !== undefined && open.untilAt > now ? open.sinceAt : undefined,
    pause,
    record,
  }
}

function conditionOf(
  record: SensorRecord,
  { active, enabled, isPaused }: { active: boolean; enabled: boolean; isPaused: boolean },
): SensorInfo['condition'] {
  if (!active) return 'ended'
  if (!enabled) return 'off'
  if (isPaused) return 'paused'
  if (record.failures > 0) return isBroken(record) ? 'broken' : 'failing'
  return record.last === null ? 'waiting' : 'ok'
}
