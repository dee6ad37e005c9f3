import type { Instant } from '../../../time/instant.js'
import type { QueueStatus } from '../../port.js'
import { jobOf, storedQueues, type Catalog } from '../catalog.js'
import { highestTime } from '../meta.js'
import { blocked, delayed, PARKED, ready, running } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** Runs that wait for something other than a worker are counted up to this limit: no index has their jobs. */
const mostWaiting = 2000

// Relies on: runs_ready alone, which has all requested columns.
const READY = `select job, count(*) as runs, min(run_at) as oldest_at from rota.runs where state = ${ready} group by job`

// Relies on: runs_running, never history.
const RUNNING = `select job, count(*) as runs, null as oldest_at from rota.runs where state = ${running} group by job`

// Relies on: runs_blocked. Users see these as ready.
const READY_LATER = `select job, count(*) as runs, min(run_at) as oldest_at from rota.runs
  where state = ${blocked} and ${PARKED} group by job`

// Rely on: runs_delayed, runs_blocked.
const waiting = (condition: string): string => `select job, count(*) as runs, null as oldest_at from (
    select job from rota.runs where ${condition} limit ${mostWaiting}
  ) waiting group by job`
const DELAYED = waiting(`state = ${delayed}`)
const BLOCKED = waiting(`state = ${blocked} and not (${PARKED})`)

// Relies on: holds_target.
const PAUSED = `select target from rota.holds
  where target >= 'queue:' and target < 'queue;' and is_released = 0 and (until_at is null or until_at > $1)`

interface JobRow {
  readonly job: string
  readonly runs: number
  readonly oldest_at: number | null
}

/** Queues that are defined or used, by name. */
export function* queues(session: Session): Verb<QueueStatus[]> {
  const catalog = yield* session.catalog()
  const { sql } = session
  const defined = new Map((yield* storedQueues(sql)).map((queue) => [queue.name, queue]))
  const names = new Set([...defined.keys(), ...[...catalog.jobs.values()].map((job) => job.queue)])
  const counts = [READY, READY_LATER, RUNNING, DELAYED, BLOCKED].map((statement) =>
    sql.all<JobRow>(statement),
  )
  const [now = [], later = [], ...others] = yield* sql.together(...counts)
  const readyIn = byQueue(catalog, [...now, ...later])
  const [runningIn, delayedIn, blockedIn] = others.map((jobs) => byQueue(catalog, jobs))
  // No instant is passed in, so a hold with an end counts until a later instant was recorded.
  const held = yield* sql.all<{ target: string }>(PAUSED, yield* highestTime(session))
  const paused = new Set(held.map(({ target }) => target))
  return [...names].toSorted().map((name) => ({
    name,
    concurrency: defined.get(name)?.concurrency,
    limit: defined.get(name)?.limit,
    paused: paused.has(`queue:${name}`),
    ready: readyIn.get(name)?.runs ?? 0,
    oldestReadyAt: readyIn.get(name)?.oldestAt,
    running: runningIn?.get(name)?.runs ?? 0,
    delayed: delayedIn?.get(name)?.runs ?? 0,
    blocked: blockedIn?.get(name)?.runs ?? 0,
  }))
}

interface InQueue {
  readonly runs: number
  readonly oldestAt: Instant | undefined
}

function byQueue(catalog: Catalog, jobs: readonly JobRow[]): ReadonlyMap<string, InQueue> {
  const found = new Map<string, InQueue>()
  for (const { job, runs, oldest_at: oldestAt } of jobs) {
    const { queue } = jobOf(catalog, job)
    const known = found.get(queue)
    const oldest = Math.min(known?.oldestAt ?? Infinity, oldestAt ?? Infinity)
    found.set(queue, {
      runs: runs + (known?.runs ?? 0),
      oldestAt: oldest === Infinity ? undefined : oldest,
    })
  }
  return found
}
