import { kindOf, type TriggerKinds } from '../../engine/trigger-kind.js'
import { rangeOver } from '../../engine/explain/due-instants.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import { scheduleOf } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { ok, someNames, warn, type Facts, type Finding } from '../../engine/explain/finding.js'

const lateMs = 60_000
const dayMs = 86_400_000

/** Triggers that are due and were not planned, with the reason. */
export async function lateTriggers(facts: Facts): Promise<Finding[]> {
  const { triggers, now, store, kinds } = facts
  const isLate = ({ nextAt, trigger }: StoredTrigger): boolean =>
    nextAt !== undefined && nextAt < now - lateMs && kindOf(kinds, trigger).plan !== undefined
  const late = triggers.filter(isLate)
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
  if (live.length === 0) return 'no scheduler is running: start one with `rota up`'
  if (live.every((worker) => worker.isDraining))
    return 'every scheduler is draining: start another with `rota up`, or stop draining one with `rota workers undrain`'
  return `a scheduler is alive (${someNames(live.map((worker) => worker.id))}): check its log for problems with the store or the clock`
}

/** How many triggers are examined, and how many instants of each. */
const mostTriggers = 500
const mostInstants = 200
const fewestInstants = 5

/** Triggers that run at less than half of their due instants, with the most frequent reason. */
export async function skippingTriggers({ store, triggers, kinds, now }: Facts): Promise<Finding[]> {
  const timed = triggers.filter(({ active, trigger }) => active && trigger.enabled && recurs(kinds, trigger))
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
  overlap: 'because the previous run was unfinished',
  missed: 'because nothing was running then',
  collapsed: 'collapsed into a later run after downtime',
}

const advice: Readonly<Record<Skip, string>> = {
  overlap:
    'its runs take longer than its interval: make them faster, use a longer interval, or choose another `overlap`',
  missed: 'keep an engine running (`rota up` under a supervisor), or choose another `catchUp`',
  collapsed: 'keep an engine running (`rota up` under a supervisor); `catchUp: all` runs every instant',
}

/** The dispositions of the instants of the last day; instants that were held on purpose do not count. */
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
  return (
    reason === 'paused' ||
    reason === 'frozen' ||
    reason === 'switch' ||
    reason === 'blackout' ||
    reason === 'calendar'
  )
}

/** Whether every due instant of the trigger is expected to become a run. */
function recurs(kinds: TriggerKinds, trigger: Trigger): boolean {
  const kind = kindOf(kinds, trigger)
  return kind.origin === 'trigger' && kind.isChain !== true && kind.isOneShot !== true
}
