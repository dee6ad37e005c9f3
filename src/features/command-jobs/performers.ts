import type { Handler } from '../../engine/worker/perform.js'
import { define, defineJobs } from '../../engine/sync/sync.js'
import { commandJobOf } from './definition.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import { jobsSource } from '../../kernel/job/command-source.js'
import type { FallbackInput } from '../../handlers/executable-jobs.js'
import type { Store, StoredJob } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { isUnclaimedJob, takerName, unclaimedCommand, unclaimedJob } from '../../engine/worker/command-run.js'

/** The job of shell commands. */
export const shellCommand = 'jobs:shell'

/** The job that performs a command: the job with its name, else `on-command`, else a job that no worker performs. */
export function performerOf(command: string, jobs: readonly StoredJob[]): string {
  const isThere = (name: string): boolean =>
    jobs.some(({ job, source }) => job.name === name && source !== jobsSource)
  if (isThere(command)) return command
  return isThere(takerName) ? takerName : unclaimedJob(command)
}

/** The job that performs each of the commands; missing jobs are defined first. */
export async function performersOf(
  store: Store,
  commands: readonly { readonly command: string; readonly isShell: boolean }[],
  now: Instant,
): Promise<readonly string[]> {
  const jobs = await store.jobs()
  const names = commands.map(({ command, isShell }) => (isShell ? shellCommand : performerOf(command, jobs)))
  const known = new Set(jobs.map(({ job }) => job.name))
  const missing = [...new Set(names)].filter((name) => !known.has(name))
  const added: Job[] = missing.map((name) => ({ ...jobDefaults, name }))
  if (added.length > 0) await defineJobs(store, { name: jobsSource, jobs: added, queues: [] }, now)
  return names
}

/** Assigns the command jobs of the store to the jobs that perform them now: a job may have been defined since they were added. */
export async function bindCommands(store: Store, now: Instant): Promise<void> {
  const stored = (await store.triggers({ source: jobsSource, active: true })).filter(
    ({ trigger }) => trigger.job !== shellCommand,
  )
  const commands = stored.map(({ trigger }) => ({ command: commandJobOf(trigger).command, isShell: false }))
  const performers = await performersOf(store, commands, now)
  const moved = stored.flatMap(({ trigger }, index) => {
    const job = performers[index] as string
    return job === trigger.job ? [] : [{ ...trigger, job }]
  })
  if (moved.length > 0) await define(store, { kinds: timedKinds, source: jobsSource, triggers: moved, now })
}

/** Removes the fallback jobs of commands that now have a job, or that no command job uses any more. */
export async function removeUnclaimedJobs(store: Store): Promise<void> {
  const names = (await store.jobs())
    .filter(({ job, source }) => source === jobsSource && isUnclaimedJob(job.name))
    .map(({ job }) => job.name)
  if (names.length > 0) await store.removeJobs(names)
}

/** The handler of the fallback jobs of commands, if this process has one: a job may have been defined after a run was recorded. */
export function fallbackHandler({ job, source }: StoredJob, here: FallbackInput): Handler | undefined {
  if (source !== jobsSource) return undefined
  if (job.name === shellCommand) {
    return here.shell((run) => ({ kind: 'shell', argv: ['sh', '-c', commandOf(run)] }))
  }
  const named = unclaimedCommand(job.name)
  const own = here.executableJobs.get(named ?? takerName) ?? here.executableJobs.get(takerName)
  return own?.handler
}

/** The command of a run. */
export function commandOf({ payload }: { readonly payload?: unknown }): string {
  const { command } = (payload ?? {}) as { readonly command?: unknown }
  return typeof command === 'string' ? command : ''
}
