import { placeOf } from '../../kernel/definition/faults.js'
import { readName } from '../../kernel/definition/read-value.js'
import type { Handler, RunContext } from './perform.js'
import { toTask } from './pool.js'
import type { Task } from '../../kernel/run/task.js'

/** The job for commands without a job of their name; defined by `app.commands.handle()`, or under this name. */
export const takerName = 'on-command'

/** The function that takes commands. */
export type CommandHandler = (command: CommandRun) => unknown

/** A due command: its run, and its content. */
export interface CommandRun extends RunContext {
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
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
    return handler({ ...run, command, userId, metadata, signal, task, run })
  }
}

/** A function as the handler of a job; one that takes commands is called with the command. */
export function toHandler(
  called: (given: never) => unknown,
  { takesCommands }: { readonly takesCommands: boolean },
): Handler {
  return takesCommands ? takingCommands(called as CommandHandler) : (called as Handler)
}

/** The prefix of jobs whose runs wait for an app or subscriber that takes their command. */
const unclaimedPrefix = 'command:'

/** The job of unclaimed commands whose text cannot be part of a name. */
const unclaimedTexts = 'jobs:command'

/** The job of a command's runs while nobody takes the command. */
export function unclaimedJob(command: string): string {
  const name = `${unclaimedPrefix}${command}`
  return readName(name, placeOf()) === undefined ? unclaimedTexts : name
}

/** Whether runs of this job wait for an app or subscriber that takes their command. */
export function isUnclaimedJob(name: string): boolean {
  return name === unclaimedTexts || name.startsWith(unclaimedPrefix)
}

/** The command in the name of such a job, if the name contains it. */
export function unclaimedCommand(job: string): string | undefined {
  return job === unclaimedTexts ? undefined : job.slice(unclaimedPrefix.length)
}
