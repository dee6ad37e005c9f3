import { pendingReasons, type PendingReason } from '../../kernel/run/pending.js'
import type { Run } from '../../kernel/run/run.js'
import { formatInstant } from '../../time/instant.js'
import { pendingText, pendingTodo } from '../explain/pending-text.js'
import { readWaiting } from '../runs/waiting.js'
import { count, ok, someNames, warn, type Facts, type Finding } from '../../engine/explain/finding.js'

/** A run that waits longer than this is reported. */
const lateMs = 60_000

/** How many pending runs are examined. */
const mostPending = 1000

/** Due runs that wait, by reason; and runs of jobs that no source defines. */
export async function waitingRuns({ store, now }: Facts): Promise<Finding[]> {
  const due = await store.runs({ state: 'pending', untilAt: now, limit: mostPending })
  const late = due.filter((run) => run.runAt < now - lateMs)
  const jobs = (await store.jobs()).map(({ job }) => job.name)
  const orphans = await orphaned({ store, now, due, jobs: new Set(jobs) })
  const facts = await readWaiting(store, { pending: due, now })
  const waiting = late.filter((run) => !orphans.includes(run))
  const groups = grouped(waiting, (run) => pendingReasons(run, facts)[0] ?? { kind: 'ready' })
  const findings = groups.map(({ runs, reason }) => findingOf(runs, reason))
  if (orphans.length > 0) {
    const names = someNames(orphans.map((run) => run.job))
    const message = `${count(orphans.length, 'run')} of jobs that no source defines: ${names}`
    findings.unshift(warn('jobs', message, 'define them, or cancel the runs with `rota cancel`'))
  }
  return findings.length > 0 ? findings : [ok('jobs', `${jobs.length} defined, no run waits for a worker`)]
}

async function orphaned({
  store,
  now,
  due,
  jobs,
}: Pick<Facts, 'store' | 'now'> & { due: readonly Run[]; jobs: ReadonlySet<string> }): Promise<Run[]> {
  const later = await store.runs({ state: 'pending', sinceAt: now + 1, limit: mostPending })
  return [...due, ...later].filter((run) => !jobs.has(run.job))
}

interface Group {
  readonly runs: Run[]
  readonly reason: PendingReason
}

/** Runs that wait for the same reason. */
function grouped(runs: readonly Run[], reasonOf: (run: Run) => PendingReason): Group[] {
  const groups = new Map<string, Group>()
  for (const run of runs) {
    const reason = reasonOf(run)
    const key = JSON.stringify(reason)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { runs: [run], reason })
    else known.runs.push(run)
  }
  return [...groups.values()]
}

function findingOf(runs: readonly Run[], reason: PendingReason): Finding {
  const many = runs.length === mostPending ? `${mostPending} or more runs` : count(runs.length, 'run')
  const of = someNames(runs.map(({ job }) => job))
  const text = pendingText(reason, { time: formatInstant, id: (id) => id })
  const have = runs.length === 1 ? 'has' : 'have'
  const message = `${many} of ${of} ${have} been due for over a minute: ${text}`
  // A full limit is intended.
  if (reason.kind === 'limit' || reason.kind === 'queue-full') return ok('jobs', message)
  return warn('jobs', message, pendingTodo(reason) ?? readyTodo)
}

const readyTodo = 'workers with free slots are alive: look at their logs for trouble with the store'
