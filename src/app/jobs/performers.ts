import type { Handler, Performable, RunContext } from '../../engine/perform.js'
import { toTask } from '../../engine/pool.js'
import { define, defineJobs } from '../../engine/sync.js'
import { performShell, type ShellContext } from '../../handlers/perform-shell.js'
import { commandJobOf } from '../../model/command-job.js'
import { RotaError } from '../../model/errors.js'
import { shown } from '../../model/faults.js'
import { jobDefaults, type Job } from '../../model/job.js'
import { jobsSource } from '../../model/jobs-source.js'
import type { Task } from '../../model/task.js'
import type { Store, StoredJob } from '../../store/store.js'
import type { Instant } from '../../time/instant.js'

/** The job that takes every command that no job is named after; an app defines it with `onCommand`, or under this name. */
export const takerName = 'on-command'

/** The job of commands that nobody takes: it fails, and says why. */
const unknownCommand = 'jobs:command'

/** The job of commands that are lines for a shell. */
export const shellCommand = 'jobs:shell'

/** What takes a command: told what it is, for whom, and how it learns that it has to stop. */
export type CommandHandler = (command: CommandRun) => unknown

/** A command that is due. */
export interface CommandRun {
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
  /** Aborts at the timeout, on a cancel, and when the worker stops. */
  readonly signal: AbortSignal
  /** Its id is the same for every attempt: an idempotency key. */
  readonly task: Task
  /** The run itself: its attempt, its log. */
  readonly run: RunContext
}

/** The handler of a job that takes commands. */
export function takingCommands(handler: CommandHandler): Handler {
  return (run) => {
    const { signal, ...task } = toTask(run)
    const { command, user_id: userId } = task.payload
    const metadata = task.payload.metadata as CommandRun['metadata']
    return handler({ command, userId, metadata, signal, task, run })
  }
}

/** Which job of the store performs a command: the one named like it, else the one that takes all, else the one that says that nobody does. */
export function performerOf(command: string, jobs: readonly StoredJob[]): string {
  const isThere = (name: string): boolean =>
    jobs.some(({ job, source }) => job.name === name && source !== jobsSource)
  if (isThere(command)) return command
  return isThere(takerName) ? takerName : unknownCommand
}

/** Defines the jobs that command jobs fall back on, where they are missing. */
export async function definePerformers(store: Store, now: Instant): Promise<readonly StoredJob[]> {
  const jobs = await store.jobs()
  const missing = [unknownCommand, shellCommand].filter((name) => jobs.every(({ job }) => job.name !== name))
  if (missing.length === 0) return jobs
  const added: Job[] = missing.map((name) => ({ ...jobDefaults, name }))
  await defineJobs(store, { name: jobsSource, jobs: added, queues: [] }, now)
  return await store.jobs()
}

/** Gives the command jobs of the store to those who perform them now: a job may have been defined since they were added. */
export async function bindCommands(store: Store, now: Instant): Promise<void> {
  const jobs = await store.jobs()
  const stored = await store.triggers({ source: jobsSource, active: true })
  const moved = stored.flatMap(({ trigger }) => {
    if (trigger.job === shellCommand) return []
    const job = performerOf(commandJobOf(trigger).command, jobs)
    return job === trigger.job ? [] : [{ ...trigger, job }]
  })
  if (moved.length > 0) await define(store, { source: jobsSource, triggers: moved, now })
}

/** What performs the jobs that command jobs fall back on; absent for every other job. */
export function fallbackHandler(
  { job, source }: StoredJob,
  here: {
    /** What this process can perform: a job may have been defined after the run was made. */
    readonly performables: ReadonlyMap<string, Performable>
    readonly shell: (run: RunContext) => ShellContext
  },
): Handler | undefined {
  if (source !== jobsSource) return undefined
  if (job.name === shellCommand) {
    return (run) => performShell({ kind: 'shell', argv: ['sh', '-c', commandOf(run)] }, here.shell(run))
  }
  return (run) => {
    const command = commandOf(run)
    const own = here.performables.get(command) ?? here.performables.get(takerName)
    if (own !== undefined && own.job.name !== job.name) return own.handler(run)
    throw new RotaError(
      'COMMAND_UNKNOWN',
      `no job is named ${shown(command)}, and no app takes commands with onCommand`,
    )
  }
}

function commandOf({ payload }: RunContext): string {
  const { command } = (payload ?? {}) as { readonly command?: unknown }
  return typeof command === 'string' ? command : ''
}
