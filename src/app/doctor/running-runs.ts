import type { Run } from '../../kernel/run/run.js'
import { formatDuration } from '../../time/duration.js'
import { ok, someNames, warn, type Facts, type Finding } from '../../engine/explain/finding.js'
import { groupBy } from '../../kernel/definition/group-by.js'

/** How many running runs are examined, and for how many triggers and jobs the usual duration is computed. */
const mostRunning = 1000
const mostGroups = 20

/** How many earlier runs determine the usual duration, and the least number of them. */
const samples = 50
const fewestSamples = 5

/** A run is slow if it takes this many times the longest earlier run, and at least this long. */
const timesLonger = 3
const leastMs = 60_000

/** Runs whose worker is gone, and runs that take much longer than earlier ones. */
export async function runningRuns(facts: Facts): Promise<Finding[]> {
  const { store, now, workers } = facts
  const running = await store.runs({ state: 'running', limit: mostRunning })
  const live = new Set(workers.filter((worker) => worker.leaseUntil >= now).map((worker) => worker.id))
  const stuck = running.filter((run) => run.worker !== undefined && !live.has(run.worker))
  const findings = await longRuns(
    facts,
    running.filter((run) => !stuck.includes(run)),
  )
  if (stuck.length > 0) {
    const ids = someNames(
      stuck.map((run) => run.id),
      3,
    )
    const isAlive = workers.some(({ roles, leaseUntil }) => roles.includes('worker') && leaseUntil >= now)
    const todo = isAlive
      ? 'a live worker takes them over within seconds'
      : 'a running engine takes them over: start one with `rota up`'
    findings.unshift(warn('runs', `${stuck.length} held by workers that are gone: ${ids}`, todo))
  }
  return findings.length > 0 ? findings : [ok('runs', `${running.length} running`)]
}

async function longRuns({ store, now }: Facts, running: readonly Run[]): Promise<Finding[]> {
  const old = running.filter((run) => now - sinceOf(run) >= leastMs)
  const groups = groupBy(old, (run) => run.trigger ?? run.job)
  const findings: Finding[] = []
  for (const runs of [...groups.values()].slice(0, mostGroups)) {
    const usualMs = await longestBefore(store, runs[0] as Run)
    if (usualMs === undefined) continue
    const long = runs.filter((run) => now - sinceOf(run) > timesLonger * usualMs)
    findings.push(...long.slice(0, 3).map((run) => findingOf(run, { usualMs, now })))
  }
  return findings
}

/** The longest of the newest completed runs; undefined if they are too few. */
async function longestBefore(store: Facts['store'], { trigger, job }: Run): Promise<number | undefined> {
  // Runs of a trigger are found by an index; those of a job alone are searched among the newest of all.
  const found = await store.runs(
    trigger === undefined ? { limit: 20 * samples } : { trigger, limit: samples },
  )
  const took = found.flatMap((run) =>
    run.job === job && run.state === 'done' && run.startedAt !== undefined && run.finishedAt !== undefined
      ? [run.finishedAt - run.startedAt]
      : [],
  )
  return took.length < fewestSamples ? undefined : Math.max(...took)
}

function findingOf(run: Run, { usualMs, now }: { usualMs: number; now: number }): Finding {
  const [took, usual] = [now - sinceOf(run), usualMs].map((ms) => formatDuration(Math.ceil(ms / 1000) * 1000))
  const message = `run ${run.id} of ${run.trigger ?? run.job} has been running for ${took}; earlier runs took at most ${usual}`
  const todo = `\`rota logs ${run.id}\` shows what it does, \`rota cancel ${run.id}\` ends it; a timeout would do this automatically`
  return warn('runs', message, todo)
}

function sinceOf({ startedAt, claimedAt, dueAt }: Run): number {
  return startedAt ?? claimedAt ?? dueAt
}
