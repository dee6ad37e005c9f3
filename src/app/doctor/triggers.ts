import { rangeOver } from '../../engine/explain/due-instants.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import { isComputed, scheduleOf } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { SensorInfo } from '../../features/sensors/status.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { count, ok, someNames, warn, type Facts, type Finding } from '../../engine/explain/finding.js'

const lateMs = 60_000
const dayMs = 86_400_000

/** Triggers that are due and were not planned, with why nobody plans them. */
export async function lateTriggers(facts: Facts): Promise<Finding[]> {
  const { triggers, now, store } = facts
  const late = triggers.filter(
    (one) => one.nextAt !== undefined && one.nextAt < now - lateMs && !isSensor(one),
  )
  const active = triggers.filter((one) => one.active).length
  if (late.length === 0) return [ok('triggers', `${active} active, none late`)]
  const nextTickAt = await store.nextTickAt({ now })
  const isHeld = nextTickAt === undefined || nextTickAt > now
  const names = someNames(late.map((one) => one.trigger.name))
  const todo = isHeld ? 'planning is held back: see `holds` below' : plannerTodo(facts)
  return [warn('triggers', `${late.length} due and not planned: ${names}`, todo)]
}

function plannerTodo({ workers, now }: Facts): string {
  const live = workers.filter(({ roles, leaseUntil }) => roles.includes('scheduler') && leaseUntil >= now)
  if (live.length === 0) return 'no scheduler is at work: start one with `rota up`'
  if (live.every((worker) => worker.isDraining))
    return 'every scheduler drains: start another with `rota up`, or take one back with `rota workers undrain`'
  return `a scheduler is alive (${someNames(live.map((worker) => worker.id))}): look at its log for trouble with the store or the clock`
}

/** Of so many triggers it is looked up what became of their instants, and of so many instants each. */
const mostTriggers = 500
const mostInstants = 200
const fewestInstants = 5

/** Triggers that run at less than half of their due instants, and what keeps them from it. */
export async function skippingTriggers({ store, triggers, now }: Facts): Promise<Finding[]> {
  const timed = triggers.filter(({ active, trigger }) => active && trigger.enabled && isPlainlyTimed(trigger))
  const findings: Finding[] = []
  for (const stored of timed.slice(0, mostTriggers)) {
    const { due, skipped } = await dayOf(store, stored, now)
    const [reason, times] = [...skipped].toSorted((a, b) => b[1] - a[1])[0] ?? ['missed', 0]
    const total = [...skipped.values()].reduce((sum, one) => sum + one, 0)
    if (due < fewestInstants || total * 2 <= due) continue
    const message = `trigger ${stored.trigger.name} did not run at ${total} of its last ${due} instants, ${times} of them ${why[reason]}`
    findings.push(warn('skips', message, advice[reason]))
  }
  if (findings.length > 0) return findings
  const looked =
    timed.length > mostTriggers ? ` (the first ${mostTriggers} of ${timed.length} were looked at)` : ''
  return [ok('skips', `no trigger skipped most of its instants in the last day${looked}`)]
}

type Skip = 'overlap' | 'missed' | 'collapsed'

const why: Readonly<Record<Skip, string>> = {
  overlap: 'because the run before was unfinished',
  missed: 'because nothing was running then',
  collapsed: 'collapsed into a later run after downtime',
}

const advice: Readonly<Record<Skip, string>> = {
  overlap:
    'its runs take longer than its interval: make them faster or it less often, or choose another `overlap`',
  missed: 'keep an engine running (`rota up` under a supervisor), or choose another `catchUp`',
  collapsed: 'keep an engine running (`rota up` under a supervisor); `catchUp: all` runs every instant',
}

/** What became of the instants of the last day; those that somebody held back on purpose do not count. */
async function dayOf(
  store: Facts['store'],
  { trigger, cursorAt, definedAt }: StoredTrigger,
  now: Instant,
): Promise<{ due: number; skipped: ReadonlyMap<Skip, number> }> {
  const window = {
    trigger: trigger.name,
    fromAt: Math.max(now - dayMs, definedAt),
    untilAt: Math.min(now, cursorAt),
  }
  const schedule = scheduleOf(trigger.schedule)
  const instants: Instant[] = []
  let at = schedule.previous(window.untilAt + 1)
  while (at !== undefined && at >= window.fromAt && instants.length < mostInstants) {
    instants.push(at)
    at = schedule.previous(at)
  }
  const skipped = new Map<Skip, number>()
  if (instants.length < fewestInstants) return { due: instants.length, skipped }
  const looked = { ...window, fromAt: instants.at(-1) ?? window.fromAt }
  const runs = new Set(
    (await store.runInstants({ ...looked, limit: mostInstants * 2 })).map((one) => one.dueAt),
  )
  const ranges = await store.ledger(looked)
  let due = 0
  for (const one of instants) {
    const reason = runs.has(one) ? undefined : rangeOver(ranges, one)?.reason
    if (isHeldBack(reason)) continue
    due++
    if (reason === 'overlap' || reason === 'missed' || reason === 'collapsed')
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  }
  return { due, skipped }
}

function isHeldBack(reason: LedgerReason | undefined): boolean {
  return reason === 'paused' || reason === 'frozen' || reason === 'switch'
}

/** Checks of rounds are recorded in the ledger whether they found something or not. */
function isPlainlyTimed({ schedule, round }: StoredTrigger['trigger']): boolean {
  return isComputed(schedule) && schedule.kind !== 'once' && round === undefined
}

/** Sensors that fail, were paused for it, or are not polled in time. */
export async function sensorsBehind({ store, triggers, now }: Facts): Promise<Finding[]> {
  if (!triggers.some((one) => one.active && isSensor(one))) return []
  const { listSensors } = await import('../../features/sensors/status.js')
  const sensors = (await listSensors(store, { now })).filter(({ condition }) => condition !== 'ended')
  const findings = sensors.flatMap((sensor) => sensorFinding(sensor, now) ?? [])
  return findings.length > 0 ? findings : [ok('sensors', `${count(sensors.length, 'sensor')}, none behind`)]
}

function sensorFinding(sensor: SensorInfo, now: Instant): Finding | undefined {
  const { name, condition, record, pause, nextAt, spec, pollingSince } = sensor
  const reason = record.last?.kind === 'error' ? `: ${record.last.reason ?? ''}` : ''
  const failed = `${count(record.failures, 'failure')} in a row${reason}`
  const look = `\`rota sensor history ${name}\` shows the polls`
  if (condition === 'failing' || condition === 'broken')
    return warn('sensors', `sensor ${name} is ${condition}, ${failed}`, `mend what it looks at; ${look}`)
  if (pause !== undefined && record.failures > 0)
    return warn(
      'sensors',
      `sensor ${name} was paused after ${failed}`,
      `mend it, then \`rota resume ${name}\``,
    )
  if (spec.type === 'webhook' || pause !== undefined || pollingSince !== undefined) return undefined
  return lateSensor(sensor, nextAt === undefined ? 0 : now - nextAt)
}

/** One that nobody polls, or whose polls begin late. */
function lateSensor({ name, record, spec }: SensorInfo, behindMs: number): Finding | undefined {
  const text = (ms: number): string => formatDuration(Math.floor(ms / 1000) * 1000)
  if (behindMs >= lateMs) {
    const message = `sensor ${name} should have been polled ${text(behindMs)} ago`
    return warn('sensors', message, 'start the program that defines it: no other can poll it')
  }
  if (record.lagMs < Math.max(lateMs, spec.everyMs)) return undefined
  const message = `the last poll of sensor ${name} began ${text(record.lagMs)} late`
  return warn('sensors', message, 'its process has too much to do: poll less often, or start another process')
}

function isSensor({ trigger }: StoredTrigger): boolean {
  return trigger.schedule.kind === 'sensor'
}
