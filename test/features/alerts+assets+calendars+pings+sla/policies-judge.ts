import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../../src/app/rota.js'
import type { Attempt, Run } from '../../../src/kernel/run/run.js'
import { breaches as findBreaches } from '../../../src/engine/explain/breaches.js'
import type { Breach } from '../../../src/kernel/sla/deadline.js'
import type { StoredTrigger } from '../../../src/kernel/trigger/trigger.js'
import { formatInstant } from '../../../src/time/instant.js'
import { allRuns } from '../../fixtures/all-runs.js'
import { crowded } from '../../fixtures/crowded.js'
import { checkPerformed, readPerformed } from '../../kill/performed.js'
import { checkBreaches, checkFreshness, checkPartitions, type Seen } from './policies-promises.js'
import { isExcluded, limits, pairs, rateOf, type World } from './policies-world.js'

/** What the receivers got. */
export interface Told {
  readonly pings: { readonly path: string; readonly text: string }[]
  /** Messages by their id: a message may arrive twice. */
  readonly alerts: Map<string, Message>
}

/** What is read of a message. */
interface Message {
  readonly rule: string
  readonly count: number
}

/** What was requested and acknowledged. */
export interface Asked {
  readonly acknowledged: readonly string[]
  readonly debounced: number
  readonly throttled: number
  readonly backfill: string
}

/** The result of the checks. */
export interface PolicyJudgement {
  readonly runs: number
  readonly attempts: number
  readonly skipped: Readonly<Record<string, number>>
  readonly failed: number
  readonly breaches: number
  readonly messages: number
  /** All broken guarantees, one sentence each. */
  readonly broken: readonly string[]
}

/** What the checks need. */
export interface Facts {
  readonly app: App
  readonly world: World
  readonly runs: readonly Run[]
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>
}

/** Compares the store, the lines of handlers on disk and what receivers got with what was due and requested. */
export async function judgePolicies(
  app: App,
  given: {
    readonly world: World
    readonly performed: string
    readonly told: Told
    readonly asked: Asked
    readonly seen: Seen
  },
): Promise<PolicyJudgement> {
  const { world, told, asked, seen } = given
  const runs = await allRuns(app)
  const attempts = new Map<string, readonly Attempt[]>()
  for (const { id } of runs) attempts.set(id, await app.runs.attempts(id))
  const facts: Facts = { app, world, runs, attempts }
  const performed = await readPerformed(given.performed)
  const own = runs.filter(({ job }) => !job.startsWith('alert:'))
  const breaches = await findBreaches(await app.store(), {})
  const skipped: Record<string, number> = {}
  const broken = [
    ...(await checkCoverage(facts)),
    ...(await checkInstants(facts, skipped)),
    ...(await checkPerformed(app, { runs: own, performed }, ['lost', 'released', 'failed', 'snoozed'])),
    ...checkLimits(facts),
    ...checkLetters(facts),
    ...checkAsked(facts, asked),
    ...checkPings(facts, told),
    ...checkAlerts(facts, { told, breaches }),
    ...checkBreaches(facts, breaches, seen),
    ...checkFreshness(facts, breaches, seen),
    ...(await checkPartitions(facts)),
    ...(await checkPause(facts)),
    ...(await checkBackfill(facts, asked)),
    ...(await checkCounts(facts)),
  ]
  const failed = own.filter(({ state }) => state === 'failed').length
  const all = [...performed.values()].flat().length
  const sizes = { breaches: breaches.length, messages: told.alerts.size }
  return { runs: runs.length, attempts: all, skipped, failed, ...sizes, broken }
}

/** After pruning there are fewer runs, each of them is explained, and the jobs have what their retention leaves. */
export async function judgePruned(app: App, before: PolicyJudgement): Promise<string[]> {
  const runs = await allRuns(app)
  const world = { fromAt: 0, endAt: 0, url: '' }
  const broken = await checkCoverage({ app, world, runs, attempts: new Map() })
  const left = (job: string, state: string): number =>
    runs.filter((run) => run.job === job && run.state === state).length
  if (runs.length >= before.runs) broken.push('nothing was pruned')
  if (left('mail', 'done') !== 10) broken.push(`${left('mail', 'done')} runs of mail are left that are done`)
  for (const [job, state] of [
    ['mail', 'failed'],
    ['work', 'done'],
  ] as const)
    if (left(job, state) > 0) broken.push(`${left(job, state)} runs of ${job} are left that are ${state}`)
  if (left('letters', 'done') === 0) broken.push('runs were pruned whose job keeps them')
  return broken
}

async function checkCoverage({ app }: Facts): Promise<string[]> {
  return (await app.coverage()).flatMap(({ trigger, unexplained, unexpected }) => [
    ...unexplained.map((at) => `${trigger}: ${formatInstant(at)} is unexplained`),
    ...unexpected.map((at) => `${trigger}: ${formatInstant(at)} was not due and has a run`),
  ])
}

/** Every due time of a grid, computed with simple arithmetic, is one run or in one range of the ledger; no excluded one is a run. */
async function checkInstants(
  { app, world, runs }: Facts,
  skipped: Record<string, number>,
): Promise<string[]> {
  const broken: string[] = []
  const store = await app.store()
  for (const stored of await app.triggers.list()) {
    const { name } = stored.trigger
    const expected = gridOf(stored, world)
    if (expected === undefined) continue
    const own = runs.filter(({ trigger, origin }) => trigger === name && origin === 'trigger')
    const found = grouped(own, ({ dueAt }) => dueAt)
    const ranges = await store.ledger({ trigger: name, fromAt: 0, untilAt: stored.cursorAt + 1 })
    const index = pairs.findIndex((pair) => pair.join('-') === name)
    if (expected.length === 0) broken.push(`${name} was never due`)
    for (const at of expected) {
      const times = found.get(at)?.length ?? 0
      const over = ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt)
      if (times > 1 || (times === 0 && over.length !== 1))
        broken.push(`${name}: ${formatInstant(at)} has ${times} runs and ${over.length} reasons`)
      if (times > 0 && index >= 0 && isExcluded(index, at - world.fromAt))
        broken.push(`${name}: ${formatInstant(at)} is excluded and has a run`)
      const reason = over[0]?.reason ?? 'unknown'
      if (times === 0) skipped[reason] = (skipped[reason] ?? 0) + 1
      found.delete(at)
    }
    for (const at of found.keys()) broken.push(`${name}: ${formatInstant(at)} was not due`)
  }
  return broken
}

/** The due times of a trigger with one definition, up to its cursor. */
function gridOf({ trigger, definedAt, cursorAt }: StoredTrigger, world: World): number[] | undefined {
  const { name, schedule } = trigger
  if (['changing', 'added', 'removed', 'past'].includes(name) || name.startsWith('ping:')) return undefined
  if (schedule.kind === 'upstream') return undefined
  const everyMs = schedule.kind === 'interval' ? schedule.everyMs : 1000
  const anchorAt = schedule.kind === 'interval' ? (schedule.anchorAt ?? Number.NaN) : 0
  const bounds = name === 'bounded' ? { startAt: world.fromAt + 2000, endAt: world.endAt - 1000 } : undefined
  const untilAt = Math.min(cursorAt, bounds?.endAt ?? (name === 'counted' ? Infinity : world.endAt))
  const found: number[] = []
  for (let k = Math.floor((definedAt - anchorAt) / everyMs) + 1; anchorAt + k * everyMs <= untilAt; k++)
    if (anchorAt + k * everyMs >= (bounds?.startAt ?? 0)) found.push(anchorAt + k * everyMs)
  return name === 'counted' ? found.slice(0, 7) : found
}

/** No period has more starts than a limit allows, and every attempt is a start. */
function checkLimits({ runs, attempts }: Facts): string[] {
  const startsOf = (some: readonly Run[]): number[] =>
    some.flatMap(({ id }) => (attempts.get(id) ?? []).map(({ claimedAt }) => claimedAt))
  const mails = runs.filter(({ job }) => job === 'mail')
  const letters = runs.filter(({ job }) => job === 'letters')
  const ofKeys = ['a', 'b', 'c'].map(
    (key) =>
      [`key ${key}`, mails.filter(({ payload }) => isDeepStrictEqual(payload, { key })), limits.key] as const,
  )
  const all = [
    ['job', mails, limits.job],
    ['queue', [...mails, ...letters], limits.queue],
    ...ofKeys,
  ] as const
  return all.flatMap(([what, some, limit]) => {
    const starts = startsOf(some)
    if (starts.length === 0) return [`${what}: nothing started under its limit`]
    return crowded(starts, rateOf(limit)).map((at) => `${what}: too many starts from ${formatInstant(at)} on`)
  })
}

/** Each run that failed for good has exactly one dead letter. */
function checkLetters({ runs }: Facts): string[] {
  const failed = runs.filter(({ job, state }) => job === 'mail' && state === 'failed').map(({ id }) => id)
  const letters = runs.filter(({ job }) => job === 'letters').map(({ labels }) => labels?.['failed_run'])
  const broken = failed
    .map((id) => [id, letters.filter((letter) => letter === id).length] as const)
    .filter(([, count]) => count !== 1)
    .map(([id, count]) => `${id} failed and has ${count} dead letters`)
  if (letters.length !== failed.length)
    broken.push(`${letters.length} letters for ${failed.length} failed runs`)
  return broken
}

/** Acknowledged runs exist, and each enqueue of a burst is a run or counted by one. */
function checkAsked({ runs }: Facts, { acknowledged, debounced, throttled }: Asked): string[] {
  const known = new Set(runs.map(({ id }) => id))
  const broken = acknowledged.filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is gone`)
  const bursts = runs.filter(({ job }) => job === 'bursts')
  const kinds = [
    ['debounce:', 'replaced_enqueues', debounced],
    ['throttle:', 'dropped_enqueues', throttled],
  ] as const
  for (const [prefix, label, asked] of kinds) {
    const own = bursts.filter(({ uniqueKey = '' }) => uniqueKey.startsWith(prefix))
    const counted = own.reduce((sum, { labels }) => sum + 1 + Number(labels?.[label] ?? 0), 0)
    if (counted !== asked) broken.push(`${counted} of ${asked} enqueues with ${prefix} are counted`)
  }
  const perMs = 400
  const throttledRuns = bursts.filter(({ uniqueKey = '' }) => uniqueKey.startsWith('throttle:'))
  for (const [key, own] of grouped(throttledRuns, ({ uniqueKey }) => uniqueKey)) {
    const times = own.map(({ dueAt }) => dueAt).toSorted((a, b) => a - b)
    for (const [i, at] of times.entries())
      if (at - (times[i - 1] ?? -Infinity) < perMs) broken.push(`${key}: two runs within ${perMs} ms`)
  }
  return broken
}

/** The end of each run of a trigger with a ping is one run that sends it, and it arrived. */
function checkPings({ runs }: Facts, { pings }: Told): string[] {
  const sent = runs.filter(({ job }) => job === 'alert:ping:run')
  const ends = sent
    .map(({ payload }) => payload as unknown as { kind: string; run: string })
    .filter(({ kind }) => kind !== 'start')
  const broken = sent.filter(({ state }) => state !== 'done').map(({ id }) => `the ping ${id} was not sent`)
  for (const { id, state } of runs.filter(({ trigger }) => trigger === 'mailing')) {
    if (state === 'cancelled') continue
    const path = state === 'done' ? '/ping' : '/ping/fail'
    const planned = ends.filter(({ run }) => run === id).length
    const arrived = pings.filter((ping) => ping.path === path && ping.text.includes(id)).length
    if (planned !== 1 || arrived === 0)
      broken.push(`the end of ${id} has ${planned} pings, of which ${arrived} arrived`)
  }
  return broken
}

/** Each failure, breach and pause is counted by exactly one message that arrived. */
function checkAlerts(
  { runs }: Facts,
  { told, breaches }: { readonly told: Told; readonly breaches: readonly Breach[] },
): string[] {
  const broken = runs
    .filter(({ job, state }) => job === 'alert:hook' && state !== 'done')
    .map(({ id }) => `the alert ${id} was not sent`)
  const counted = (rule: string): number =>
    [...told.alerts.values()].reduce((sum, one) => sum + (one.rule === rule ? one.count : 0), 0)
  const failed = runs.filter(({ job, state }) => state === 'failed' && !job.startsWith('alert:')).length
  const paused = runs.filter(({ trigger, state }) => trigger === 'pausing' && state === 'failed').length
  const expected = { failures: failed, breaches: breaches.length, pauses: paused < 3 ? 0 : 1 }
  for (const [rule, count] of Object.entries(expected))
    if (counted(rule) !== count) broken.push(`${counted(rule)} of ${count} are told by the rule ${rule}`)
  return broken
}

/** A trigger whose runs all fail is paused by the third, and is not due after that. */
async function checkPause({ app, runs }: Facts): Promise<string[]> {
  const store = await app.store()
  const holds = await store.holds({ target: 'trigger:pausing' })
  const [hold] = holds
  const own = runs.filter(({ trigger }) => trigger === 'pausing')
  // On a busy machine it may not have failed three times.
  if (holds.length === 0 && own.filter(({ state }) => state === 'failed').length < 3) return []
  if (holds.length !== 1 || hold?.actor !== 'rota') return [`pausing has ${holds.length} pauses`]
  const later = own.filter(({ dueAt }) => dueAt > hold.fromAt)
  const before = own.filter(({ finishedAt = Infinity }) => finishedAt <= hold.fromAt)
  return [
    ...later.map(({ id }) => `${id} was due after its trigger was paused`),
    ...(before.length === 3 ? [] : [`pausing was paused after ${before.length} failures`]),
  ]
}

/** Each due time of the backfill ran once, none before its pace allows it. */
async function checkBackfill({ app, runs, attempts }: Facts, { backfill: id }: Asked): Promise<string[]> {
  const backfill = await app.backfills.get(id)
  const own = runs.filter(({ labels }) => labels?.['backfill'] === id)
  const startedAt = backfill.startedAt ?? Infinity
  const early = own
    .toSorted((a, b) => a.dueAt - b.dueAt)
    // A claim gets its time before it waits for its transaction, so only the start of an attempt says when it began.
    .filter((run, i) =>
      (attempts.get(run.id) ?? []).some((one) => (one.startedAt ?? Infinity) < startedAt + i * 50),
    )
  const broken = early.map((run) => `${run.id} began before the pace of its backfill`)
  if (own.length !== 40 || new Set(own.map(({ dueAt }) => dueAt)).size !== 40)
    broken.push(`the backfill has ${own.length} runs`)
  if (backfill.done !== 40) broken.push(`the backfill has ${backfill.done} runs that are done`)
  return broken
}

/** Counters that are updated with each change equal a full count. */
async function checkCounts({ app, runs }: Facts): Promise<string[]> {
  const store = await app.store()
  const counts = await store.counts()
  const broken = (['pending', 'running', 'done', 'failed', 'cancelled'] as const).flatMap((state) => {
    const found = runs.filter((run) => run.state === state).length
    return counts[state] === found ? [] : [`${counts[state]} runs are counted as ${state}, and ${found} are`]
  })
  for (const { name, running, ready, delayed, blocked } of await app.queues.list())
    if (running + ready + delayed + blocked > 0) broken.push(`the queue ${name} is not empty`)
  return broken
}

function grouped<Key>(runs: readonly Run[], keyOf: (run: Run) => Key): Map<Key, Run[]> {
  const found = new Map<Key, Run[]>()
  for (const run of runs) found.set(keyOf(run), [...(found.get(keyOf(run)) ?? []), run])
  return found
}
