import type { RotaError } from '../../kernel/definition/errors.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { kindOf, type TriggerKinds } from '../../engine/trigger-kind.js'
import { formatDuration } from '../../time/duration.js'
import { formatInstant } from '../../time/instant.js'
import { tzdataVersion } from '../../time/zone.js'
import { failedRuns } from './failed-runs.js'
import { count, ok, warn, type Check, type Facts, type Finding } from '../../engine/explain/finding.js'
import { runningRuns } from './running-runs.js'
import { lateTriggers, skippingTriggers } from './triggers.js'
import { waitingRuns } from './waiting-runs.js'
import { loadChecks, loadTriggerKinds } from '../features.js'
import { releaseOf } from '../explain/pending-text.js'

import { storeOpenToOthers } from '../../formats/open-to-others.js'
import { withoutEngine } from '../features.js'
import { packageVersion } from '../../formats/version.js'

export type { Finding } from '../../engine/explain/finding.js'

/** Checks store, clock, workers, triggers, runs and holds. */
export async function examine(input: {
  store: Store
  clock: Clock
  /** The error if the store went back in time. */
  wentBack?: RotaError | undefined
  deep: boolean
}): Promise<readonly Finding[]> {
  const { store, clock, wentBack, deep } = input
  const now = clock.now()
  const [workers, triggers] = [await store.workers(), await store.triggers()]
  const facts = { store, now, deep, workers, triggers, kinds: await loadTriggerKinds() }
  const checks: readonly Check[] = [
    versions,
    storeHealth,
    storeRights,
    clockAgainstStore,
    cursors,
    liveWorkers,
    lateTriggers,
    skippingTriggers,
    ...(await loadChecks()),
    runningRuns,
    waitingRuns,
    failedRuns,
    holds,
  ]
  const findings: Finding[] = wentBack === undefined ? [] : [older(wentBack)]
  for (const check of checks) findings.push(...(await check(facts)))
  return findings
}

function older({ message }: RotaError): Finding {
  const todo =
    'find out what is missing, restore a newer copy if there is one, and start with `rota up --accept-store`'
  return { check: 'store', level: 'error', message, todo }
}

async function versions(): Promise<Finding[]> {
  return [ok('versions', `rota ${packageVersion}, node ${process.version}, zone rules ${tzdataVersion()}`)]
}

async function storeHealth({ store, now, deep }: Facts): Promise<Finding[]> {
  const health = await store.health({ now, deep })
  const size = health.sizeBytes === undefined ? '' : `, ${(health.sizeBytes / 2 ** 20).toFixed(1)} MiB`
  const message = `${store.url}: ${health.engine}, schema ${health.schemaVersion}${size}`
  const warnings = (health.warnings ?? []).map((one) => warn('store', one.message, one.todo))
  if (health.faults.length === 0) return [ok('store', message), ...warnings]
  const todo = 'stop every process, keep a copy of the store, and restore the newest backup'
  const faults = health.faults.map(
    (fault) => ({ check: 'store', level: 'error', message: fault, todo }) as const,
  )
  return [...faults, ...warnings]
}

async function storeRights({ store }: Facts): Promise<Finding[]> {
  return storeOpenToOthers(store.url).map(({ message, todo }) => warn('store', message, todo))
}

async function clockAgainstStore({ store, now }: Facts): Promise<Finding[]> {
  const { highestAt } = await store.health({ now })
  const behindMs = highestAt - now
  if (behindMs <= 2000) return [ok('clock', `wall clock ${formatInstant(now)} agrees with the store`)]
  const message = `the wall clock is ${formatDuration(behindMs)} behind the newest time in the store (${formatInstant(highestAt)})`
  return [warn('clock', message, 'correct the clock; nothing is planned until it has caught up')]
}

async function cursors({ triggers, kinds, now }: Facts): Promise<Finding[]> {
  const isAhead = (one: StoredTrigger): boolean => one.active && one.cursorAt > now + 2000
  const ahead = triggers.filter((one) => isAhead(one) && !isEnqueuedAhead(one, kinds))
  return ahead.map(({ trigger, cursorAt }) =>
    warn(
      'cursor',
      `trigger ${trigger.name} is planned up to ${formatInstant(cursorAt)}, which is in the future`,
      'it continues when the clock has reached that instant',
    ),
  )
}

/** The cursor of a one-shot trigger may be in the future because its run was enqueued early; that delays nothing. */
function isEnqueuedAhead({ trigger, cursorAt }: StoredTrigger, kinds: TriggerKinds): boolean {
  const kind = kindOf(kinds, trigger)
  return kind.isOneShot === true && kind.instants(trigger)?.next(cursorAt - 1) !== undefined
}

async function liveWorkers({ workers, now, triggers }: Facts): Promise<Finding[]> {
  const live = workers.filter((worker) => worker.roles.includes('worker') && worker.leaseUntil >= now)
  const dead = workers.filter((worker) => worker.leaseUntil < now && worker.running > 0)
  const findings = dead.map((worker) =>
    warn(
      'worker',
      `worker ${worker.id} has been silent since ${formatInstant(worker.leaseUntil)} and holds ${count(worker.running, 'run')}`,
      'a running engine takes them over: start one with `rota up`',
    ),
  )
  if (live.length > 0 && live.every((worker) => worker.isDraining)) {
    const todo = 'start another with `rota up`, or stop draining one with `rota workers undrain`'
    return [warn('worker', 'every live worker is draining', todo), ...findings]
  }
  if (live.length > 0)
    return [ok('worker', `${live.length} alive: ${live.map((one) => one.id).join(', ')}`), ...findings]
  return [await noWorker(triggers.filter((trigger) => trigger.active)), ...findings]
}

/** All runs may be performed by commands that cron starts; then no worker stays alive. */
async function noWorker(active: readonly StoredTrigger[]): Promise<Finding> {
  if (active.length === 0) return ok('worker', 'none, and none is needed')
  const how = await withoutEngine(active)
  if (how !== undefined) return ok('worker', `none is alive now; ${how}`)
  return warn('worker', 'no worker is alive', 'start one with `rota up`')
}

async function holds({ store, now }: Facts): Promise<Finding[]> {
  const open = await store.holds({ openAt: now })
  if (open.length === 0) return [ok('holds', 'nothing is held back')]
  return open.map((hold) => {
    const until = hold.untilAt === undefined ? 'until it is released' : `until ${formatInstant(hold.untilAt)}`
    const note = hold.note === '' ? '' : ` (${hold.note})`
    return warn(
      'holds',
      `${hold.target} is held by ${hold.actor} since ${formatInstant(hold.fromAt)} ${until}${note}`,
      releaseOf(hold.target),
    )
  })
}
