import type { Store, WorkerStatus } from '../store/store.js'
import type { StoredTrigger } from '../model/trigger.js'
import type { Clock } from '../time/clock.js'
import { formatDuration } from '../time/duration.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { tzdataVersion } from '../time/zone.js'
import { packageVersion } from './version.js'

/** One thing that was looked at: what it is, how it stands, and what to do about it. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warn' | 'error'
  readonly message: string
  readonly todo: string | undefined
}

interface Facts {
  readonly store: Store
  readonly now: Instant
  readonly deep: boolean
  readonly workers: readonly WorkerStatus[]
  readonly triggers: readonly StoredTrigger[]
}

/** Looks at store, clock, workers, triggers, runs and holds. */
export async function examine(input: {
  store: Store
  clock: Clock
  deep: boolean
}): Promise<readonly Finding[]> {
  const { store, clock, deep } = input
  const now = clock.now()
  const facts = { store, now, deep, workers: await store.workers(), triggers: await store.triggers() }
  const checks = [
    versions,
    storeHealth,
    clockAgainstStore,
    cursors,
    liveWorkers,
    lateTriggers,
    stuckRuns,
    unperformable,
    holds,
  ]
  const findings: Finding[] = []
  for (const check of checks) findings.push(...(await check(facts)))
  return findings
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
  return health.faults.map((fault) => ({ check: 'store', level: 'error', message: fault, todo }))
}

async function clockAgainstStore({ store, now }: Facts): Promise<Finding[]> {
  const { highestAt } = await store.health({ now })
  const behindMs = highestAt - now
  if (behindMs <= 2000) return [ok('clock', `wall clock ${formatInstant(now)} agrees with the store`)]
  const message = `the wall clock is ${formatDuration(behindMs)} behind the newest time in the store (${formatInstant(highestAt)})`
  return [warn('clock', message, 'set the clock right; nothing is planned until it has caught up')]
}

async function cursors({ triggers, now }: Facts): Promise<Finding[]> {
  const ahead = triggers.filter((one) => one.active && one.cursorAt > now + 2000)
  return ahead.map(({ trigger, cursorAt }) =>
    warn(
      'cursor',
      `trigger ${trigger.name} is planned up to ${formatInstant(cursorAt)}, which is in the future`,
      'it goes on by itself when the clock has reached that instant',
    ),
  )
}

async function liveWorkers({ workers, now, triggers }: Facts): Promise<Finding[]> {
  const live = workers.filter((worker) => worker.roles.includes('worker') && worker.leaseUntil >= now)
  const dead = workers.filter((worker) => worker.leaseUntil < now && worker.running > 0)
  const findings = dead.map((worker) =>
    warn(
      'worker',
      `worker ${worker.id} has been silent since ${formatInstant(worker.leaseUntil)} and holds ${worker.running} runs`,
      'a running engine takes them over by itself: start one with `rota up`',
    ),
  )
  if (live.length > 0 && live.every((worker) => worker.isDraining)) {
    const todo = 'start another with `rota up`, or take one back with `rota workers undrain`'
    return [warn('worker', 'every worker that is alive drains', todo), ...findings]
  }
  if (live.length > 0)
    return [ok('worker', `${live.length} alive: ${live.map((one) => one.id).join(', ')}`), ...findings]
  const isNeeded = triggers.some((trigger) => trigger.active)
  const none = isNeeded
    ? warn('worker', 'no worker is alive', 'start one with `rota up`')
    : ok('worker', 'none, and none is needed')
  return [none, ...findings]
}

const lateMs = 60_000

async function lateTriggers({ triggers, now, store }: Facts): Promise<Finding[]> {
  const late = triggers.filter((one) => one.nextAt !== undefined && one.nextAt < now - lateMs)
  const active = triggers.filter((one) => one.active).length
  if (late.length === 0) return [ok('triggers', `${active} active, none late`)]
  const nextTickAt = await store.nextTickAt({ now })
  const isHeld = nextTickAt === undefined || nextTickAt > now
  const names = late.slice(0, 5).map((one) => one.trigger.name)
  const message = `${late.length} due and not planned: ${names.join(', ')}${late.length > names.length ? ' …' : ''}`
  const todo = isHeld
    ? 'planning is held back: see `holds` below'
    : 'no scheduler is at work: start one with `rota up`'
  return [warn('triggers', message, todo)]
}

async function stuckRuns({ store, now, workers }: Facts): Promise<Finding[]> {
  const running = await store.runs({ state: 'running', limit: 1000 })
  const live = new Set(workers.filter((worker) => worker.leaseUntil >= now).map((worker) => worker.id))
  const stuck = running.filter((run) => run.worker !== undefined && !live.has(run.worker))
  if (stuck.length === 0) return [ok('runs', `${running.length} running`)]
  const ids = stuck
    .slice(0, 3)
    .map((run) => run.id)
    .join(', ')
  return [
    warn(
      'runs',
      `${stuck.length} held by workers that are gone: ${ids}`,
      'a running engine takes them over: `rota up`',
    ),
  ]
}

/** Runs that wait although they are due, because nobody alive has their job. */
async function unperformable({ store, now }: Facts): Promise<Finding[]> {
  const pending = await store.runs({ state: 'pending', limit: 1000 })
  const jobs = new Set((await store.jobs()).map(({ job }) => job.name))
  const orphans = pending.filter((run) => !jobs.has(run.job))
  const waiting = pending.filter(
    (run) => jobs.has(run.job) && run.runAt < now - lateMs && run.waitsFor === undefined,
  )
  const findings: Finding[] = []
  if (orphans.length > 0) {
    const names = [...new Set(orphans.map((run) => run.job))].join(', ')
    findings.push(
      warn(
        'jobs',
        `${orphans.length} runs wait for jobs that nobody defines: ${names}`,
        'define them, or cancel the runs with `rota cancel`',
      ),
    )
  }
  if (waiting.length > 0) {
    const names = [...new Set(waiting.map((run) => run.job))].join(', ')
    findings.push(
      warn(
        'jobs',
        `${waiting.length} runs have been due for over a minute: ${names}`,
        'start a worker that has these jobs, or raise its concurrency',
      ),
    )
  }
  return findings.length > 0 ? findings : [ok('jobs', `${jobs.size} defined, nothing waits for them`)]
}

async function holds({ store, now }: Facts): Promise<Finding[]> {
  const open = await store.holds({ openAt: now })
  if (open.length === 0) return [ok('holds', 'nothing is held back')]
  return open.map((hold) => {
    const until =
      hold.untilAt === undefined ? 'until somebody releases it' : `until ${formatInstant(hold.untilAt)}`
    const note = hold.note === '' ? '' : ` (${hold.note})`
    return warn(
      'holds',
      `${hold.target} is held by ${hold.actor} since ${formatInstant(hold.fromAt)} ${until}${note}`,
      releaseOf(hold.target),
    )
  })
}

function releaseOf(target: string): string {
  if (target === 'all') return '`rota thaw` ends it'
  const [kind, name] = target.split(/:(.*)/s)
  if (kind === 'switch') return `\`rota switch ${name} on\` ends it`
  return kind === 'queue' ? `\`rota resume --queue ${name}\` ends it` : `\`rota resume ${name}\` ends it`
}

function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message, todo: undefined }
}

function warn(check: string, message: string, todo: string): Finding {
  return { check, level: 'warn', message, todo }
}
