import type { Instant } from '../time/instant.js'
import type { Schedule } from '../time/schedule.js'
import { RotaError } from '../model/errors.js'
import type { Hold } from '../model/hold.js'
import type { RecordedRange } from '../model/ledger.js'
import type { Run } from '../model/run.js'
import { scheduleOf } from '../model/schedule.js'
import type { StoredTrigger, TriggerVersion } from '../model/trigger.js'
import type { Store } from '../store/store.js'

/** What became of an instant, or of a stretch of instants, of a trigger. */
export type Explanation =
  /** It became a run. */
  | { readonly kind: 'run'; readonly at: Instant; readonly run: Run }
  /** It did not run, for a recorded reason. */
  | { readonly kind: 'range'; readonly range: RecordedRange; readonly blocker: Run | undefined }
  /** It is due and has not been planned yet: nobody plans, or planning is held. */
  | { readonly kind: 'waiting'; readonly at: Instant; readonly hold: Hold | undefined }
  /** It is still to come. */
  | { readonly kind: 'future'; readonly at: Instant }
  /** The trigger is not due at that instant; the nearest ones are. */
  | {
      readonly kind: 'not-due'
      readonly at: Instant
      readonly before: Instant | undefined
      readonly after: Instant | undefined
    }
  /** The trigger did not exist then, or was disabled or removed. */
  | {
      readonly kind: 'not-defined'
      readonly at: Instant
      readonly definedAt: Instant | undefined
      readonly endedAt: Instant | undefined
    }
  /** A due instant without any record: this must not happen. */
  | { readonly kind: 'unexplained'; readonly at: Instant }

/** The answer to why: what happened in a stretch of time, and what others started for the trigger in it. */
export interface Why {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly explanations: readonly Explanation[]
  /** Runs made by hand for the trigger in that time, beside its own. */
  readonly beside: readonly Run[]
  /** Whether there was more than is shown. */
  readonly more: boolean
}

const most = 200

/** Explains every due instant of a trigger in `[fromAt, untilAt]`; where nothing was due, says what was near. */
export async function why(
  store: Store,
  request: { trigger: string; fromAt: Instant; untilAt: Instant; now: Instant },
): Promise<Why> {
  const { fromAt, untilAt, now } = request
  const [trigger] = await store.triggers({ names: [request.trigger] })
  if (trigger === undefined) {
    throw new RotaError(
      'TRIGGER_UNKNOWN',
      `no trigger is named ${request.trigger}; \`rota list\` shows those there are`,
    )
  }
  const facts = await readFacts(store, trigger, { fromAt, untilAt })
  const explanations = explain(facts, { fromAt, untilAt, now })
  return {
    trigger: request.trigger,
    fromAt,
    untilAt,
    explanations: explanations.slice(0, most),
    beside: facts.beside,
    more: explanations.length > most,
  }
}

interface Facts {
  readonly trigger: StoredTrigger
  readonly versions: readonly TriggerVersion[]
  readonly ranges: readonly RecordedRange[]
  readonly runs: ReadonlyMap<Instant, Run>
  readonly blockers: ReadonlyMap<string, Run>
  readonly holds: readonly Hold[]
  readonly beside: readonly Run[]
}

async function readFacts(
  store: Store,
  trigger: StoredTrigger,
  window: { fromAt: Instant; untilAt: Instant },
): Promise<Facts> {
  const name = trigger.trigger.name
  const ranges = (await store.ledger({ trigger: name, ...window })).slice(0, most)
  const instants = await store.runInstants({ trigger: name, ...window, limit: most + 1 })
  const runs = new Map<Instant, Run>()
  for (const { id, dueAt } of instants) {
    const run = await store.run(id)
    if (run !== undefined) runs.set(dueAt, run)
  }
  const blockers = new Map<string, Run>()
  for (const { blocker } of ranges) {
    const run = blocker === undefined ? undefined : await store.run(blocker)
    if (run !== undefined) blockers.set(run.id, run)
  }
  const ofTrigger = await store.runs({
    trigger: name,
    sinceAt: window.fromAt,
    untilAt: window.untilAt,
    limit: most,
  })
  const beside = ofTrigger.filter((run) => run.origin !== 'trigger')
  const holds = await store.holds()
  return { trigger, versions: await store.versions(name), ranges, runs, blockers, holds, beside }
}

function explain(facts: Facts, window: { fromAt: Instant; untilAt: Instant; now: Instant }): Explanation[] {
  const found: Explanation[] = []
  const told = new Set<RecordedRange>()
  for (const at of dueInstants(facts, window)) {
    if (found.length > most) break
    const range = facts.runs.has(at) ? undefined : rangeOver(facts.ranges, at)
    if (range !== undefined && told.has(range)) continue
    if (range !== undefined) told.add(range)
    found.push(explainInstant(facts, { at, range, now: window.now }))
  }
  if (found.length > 0) return found
  return [nothingDue(facts, window.fromAt)]
}

function explainInstant(
  facts: Facts,
  { at, range, now }: { at: Instant; range: RecordedRange | undefined; now: Instant },
): Explanation {
  const run = facts.runs.get(at)
  if (run !== undefined) return { kind: 'run', at, run }
  if (range !== undefined) return { kind: 'range', range, blocker: facts.blockers.get(range.blocker ?? '') }
  if (at > now) return { kind: 'future', at }
  if (at > facts.trigger.cursorAt) return { kind: 'waiting', at, hold: holdAt(facts, now) }
  return { kind: 'unexplained', at }
}

/** A whole range that was recorded is told once: its later instants are skipped by jumping over it. */
function* dueInstants(facts: Facts, window: { fromAt: Instant; untilAt: Instant }): Generator<Instant> {
  if (facts.trigger.trigger.schedule.kind === 'after-finish') {
    yield* chainInstants(facts, window)
    return
  }
  for (const version of facts.versions) {
    if (!version.trigger.enabled) continue
    const schedule = scheduleOf(version.trigger.schedule)
    const until = Math.min(window.untilAt, version.validUntil ?? Infinity)
    let at = schedule.next(Math.max(version.validFrom, window.fromAt - 1))
    while (at !== undefined && at <= until) {
      yield at
      at = schedule.next(nextToLookAt(facts, at, until))
    }
  }
}

function nextToLookAt(facts: Facts, at: Instant, until: Instant): Instant {
  const range = facts.runs.has(at) ? undefined : rangeOver(facts.ranges, at)
  if (range === undefined) return at
  const runInside = [...facts.runs.keys()].filter((due) => due > at && due <= range.lastAt)
  return Math.min(range.lastAt, until, ...runInside.map((due) => due - 1))
}

function* chainInstants(facts: Facts, window: { fromAt: Instant; untilAt: Instant }): Generator<Instant> {
  const next = facts.trigger.nextAt === undefined ? [] : [facts.trigger.nextAt]
  const all = [...facts.runs.keys(), ...facts.ranges.map((range) => range.firstAt), ...next]
  for (const at of [...new Set(all)].toSorted((a, b) => a - b)) {
    if (at >= window.fromAt && at <= window.untilAt) yield at
  }
}

function nothingDue(facts: Facts, at: Instant): Explanation {
  const version = facts.versions.find(
    (one) =>
      one.validFrom < at && (one.validUntil === undefined || at <= one.validUntil) && one.trigger.enabled,
  )
  if (version === undefined && !isAfterNow(facts, at)) {
    const last = facts.versions.at(-1)
    return { kind: 'not-defined', at, definedAt: facts.versions[0]?.validFrom, endedAt: last?.validUntil }
  }
  const schedule: Schedule = scheduleOf((version?.trigger ?? facts.trigger.trigger).schedule)
  return { kind: 'not-due', at, before: schedule.previous(at), after: schedule.next(at) }
}

function isAfterNow(facts: Facts, at: Instant): boolean {
  return facts.trigger.active && facts.trigger.trigger.enabled && at > facts.trigger.cursorAt
}

function rangeOver(ranges: readonly RecordedRange[], at: Instant): RecordedRange | undefined {
  return ranges.find((range) => range.firstAt <= at && at <= range.lastAt)
}

function holdAt({ trigger, holds }: Facts, now: Instant): Hold | undefined {
  const targets = new Set(['all', 'switch:pipeline', 'switch:scheduler', `trigger:${trigger.trigger.name}`])
  return holds.find((hold) => targets.has(hold.target) && (hold.untilAt === undefined || hold.untilAt > now))
}
