import type { Json } from '../../kernel/definition/json.js'
import { isMap } from '../../kernel/definition/read-value.js'
import type { Run } from '../../kernel/run/run.js'
import { formatDuration } from '../../time/duration.js'
import { count, ok, warn, type Facts, type Finding } from '../../engine/explain/finding.js'
import { groupBy } from '../../kernel/definition/group-by.js'

const dayMs = 86_400_000

/** How many failed runs are examined, and how many triggers and jobs are named. */
const mostFailed = 1000
const mostGroups = 10

/** How many newer runs of a trigger are searched for a success after a failure. */
const mostNewer = 200

/** Runs that failed in the last day without a later success. */
export async function failedRuns({ store, now }: Facts): Promise<Finding[]> {
  // A run may have been due yesterday and have failed today.
  const recent = await store.runs({ state: 'failed', sinceAt: now - 2 * dayMs, limit: mostFailed })
  const failed = recent.filter((run) => (run.finishedAt ?? run.dueAt) >= now - dayMs)
  const groups = groupBy(failed, (run) => run.trigger ?? run.job)
  const findings: Finding[] = []
  let repaired = 0
  let left = 0
  for (const [name, runs] of groups) {
    if (findings.length === mostGroups) left++
    if (findings.length === mostGroups) continue
    const open = await unrepaired(store, runs)
    repaired += runs.length - open.length
    if (open.length > 0) findings.push(findingOf(name, { open, now }))
  }
  if (left > 0) {
    const todo = '`rota runs --state failed --since 24h` lists them all'
    findings.push(
      warn(
        'failures',
        left === 1
          ? '1 more trigger or job has failed runs'
          : `${left} more triggers and jobs have failed runs`,
        todo,
      ),
    )
  }
  if (findings.length > 0) return findings
  const since = repaired === 0 ? '' : ` without a later success; ${repaired} had one`
  return [ok('failures', `no run failed in the last day${since}`)]
}

/** The failed runs of one trigger or job without a later success. */
async function unrepaired(store: Facts['store'], runs: readonly Run[]): Promise<readonly Run[]> {
  const [newest] = runs
  if (newest === undefined) return []
  const open = await withoutMade(store, runs)
  const { trigger } = newest
  if (trigger === undefined || open.length === 0) return open
  const done = (await store.runs({ trigger, limit: mostNewer })).filter((run) => run.state === 'done')
  // Without a partition any later success counts; a partition must have been made itself.
  return open.filter(
    (run) => !done.some((other) => other.dueAt > run.dueAt && other.partition === run.partition),
  )
}

/** Leaves out asset partitions that were made since. */
async function withoutMade(store: Facts['store'], runs: readonly Run[]): Promise<readonly Run[]> {
  const items = [...new Set(runs.flatMap(({ partition }) => partition ?? []))]
  if (items.length === 0) return runs
  const names = [...new Set(runs.map(({ job }) => job))]
  const notes = await store.stateEntries({ kind: 'partition', names, items, limit: mostFailed })
  const made = new Set(notes.filter(({ value }) => isMade(value)).map(({ name, item }) => `${name} ${item}`))
  return runs.filter(({ job, partition }) => !made.has(`${job} ${partition ?? ''}`))
}

function isMade(value: Json): boolean {
  return isMap(value) && value['state'] === 'done'
}

function findingOf(name: string, { open, now }: { open: readonly Run[]; now: number }): Finding {
  const [newest] = open.toSorted((a, b) => endOf(b) - endOf(a))
  const run = newest as Run
  const error = run.error === undefined ? (run.reason ?? '') : `${run.error.message} [${run.error.code}]`
  const ago = formatDuration(Math.max(0, Math.round((now - endOf(run)) / 1000) * 1000))
  const many = open.length === 1 ? '1 run' : `${open.length} runs, the newest`
  return warn('failures', `${name}: ${many} failed ${ago} ago: ${error}`, todoFor(run))
}

function endOf({ finishedAt, dueAt }: Run): number {
  return finishedAt ?? dueAt
}

/** The advice depends on the reason of the failure. */
function todoFor({ id, job, error, crashes }: Run): string {
  const again = `\`rota retry ${id}\` tries it again`
  switch (error?.code ?? '') {
    case 'QUARANTINED':
      return `it crashed ${count(crashes, 'worker')}: find out what ends the process (memory, \`process.exit\`), then ${again}`
    case 'TIMED_OUT':
      return `raise the timeout of job ${job}, or find in \`rota logs ${id}\` what it waited for; ${again}`
    case 'HANDLER_MISSING':
      return `the process that took it has no code for job ${job}: start the program that defines it; ${again}`
    case 'COMMAND_UNKNOWN':
      return `define a job named after the command, or handle commands with \`app.commands.handle()\`; ${again}`
    default:
      return `\`rota logs ${id}\` shows what it wrote; ${again}`
  }
}
