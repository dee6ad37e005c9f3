import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { RotaError } from '../../../kernel/definition/errors.js'
import { systemClock } from '../../../time/clock.js'
import { quotedText } from '../../../text/error-text.js'
import type { Switches } from '../../../kernel/hold/switches.js'
import type { ProgramParts } from '../../feature.js'
import type { ClockGuard } from '../../../engine/scheduler/clock-guard.js'
import type { Store } from '../../../store/port.js'
import type { Queue } from './directory.js'
import { type Context, type Ended, exitCodes, type Surroundings } from '../../../cli/framework/command.js'
import { switchesOf } from '../../../cli/framework/switches-of.js'
import type { Option } from '../../../cli/framework/syntax.js'
import { systemText } from '../../../cli/framework/system-error.js'
import { roughly } from '../../../cli/framework/print/time-text.js'

/** What the commands of plans and queues get. */
export interface QueueContext<App = unknown> extends Context<App> {
  readonly program: ProgramParts
}

/** The option for the queue directory. */
export const queueDirOption: Option = {
  name: 'queue-dir',
  value: 'directory',
  help: 'the queue; default: data/queue',
  completes: 'file',
}

/** The option for the directory of summaries. */
export const outputDirOption: Option = {
  name: 'output-dir',
  value: 'directory',
  help: 'where the summary is written; default: output',
  completes: 'file',
}

/** The option for a dry run. */
export const dryRunOption: Option = { name: 'dry-run', help: 'change no queue; only write the summary' }

/** The option that accepts the clock, for a queue that was not used for more than a year. */
export const acceptClockOption: Option = {
  name: 'accept-clock',
  help: 'accept a clock that is more than a year ahead of the queue',
}

/** Waits until the wall clock is accepted, as `rota up` does at its start, and says so; returns the guard of the clock. */
export async function clockOf(
  { args, out }: Surroundings,
  store: Store,
  signal: AbortSignal,
): Promise<ClockGuard> {
  const { ClockGuard: guards } = await import('../../../engine/scheduler/clock-guard.js')
  const acceptClock = args.flag(acceptClockOption.name)
  const guard = await guards.open(store, systemClock, { acceptClock, history: 'kept' })
  await guard.confirmed(
    ({ byMs }) =>
      out.note(`the wall clock is ${roughly(byMs)} ahead of the queue; waiting 10 s for a second reading`),
    signal,
  )
  return guard
}

/** The queue of a command. */
export function queueOf(context: QueueContext): Queue {
  return { path: queueDirOf(context), directory: context.directory, program: context.program }
}

/** The queue directory of a command. */
export function queueDirOf({ args, directory }: Surroundings): string {
  const path = args.text(queueDirOption.name) ?? 'data/queue'
  const why = notADirectory(resolve(directory, path))
  if (why === undefined) return path
  throw new RotaError('STORE_URL', `--queue-dir: ${quotedText(path)} cannot be a queue: ${why}`)
}

/** Why a path cannot be a directory; undefined if it is one or can be created. */
function notADirectory(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : `${path} is not a directory`
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing ? undefined : (systemText(error) ?? (error as Error).message)
  }
}

/** Runs a command that cron starts. While the pipeline is switched off, nothing is read or written. */
export async function oneShot(context: Surroundings, act: (switches: Switches) => Ended): Ended {
  const switches = switchesOf(context)
  if (switches.pipeline !== false) return await onQueue(context, () => act(switches))
  context.out.note('PIPELINE_ENABLED is off: nothing was read or written')
}

/** Gives all errors of the queue or the disk the same exit code. */
export async function onQueue(context: Surroundings, act: () => Ended): Ended {
  try {
    const code = (await act()) ?? exitCodes.ok
    const { stdout } = context.out
    await stdout.settled()
    return code === exitCodes.ok && stdout.failure !== undefined ? exitCodes.store : code
  } catch (error) {
    if (!isTrouble(error)) throw error
    const { reportFailure } = await import('../../../cli/framework/failure.js')
    reportFailure(error, context)
    return exitCodes.store
  }
}

function isTrouble(error: unknown): boolean {
  if (error instanceof RotaError) return error.code.startsWith('STORE_')
  return typeof (error as { syscall?: unknown } | undefined)?.syscall === 'string'
}

/** Writes a summary. It is only a record: if it cannot be written, the result of the run stands. */
export async function recordSummary({ out }: Surroundings, write: () => void | Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    out.note(
      `warning: the summary could not be written to --output-dir: ${systemText(error) ?? (error as Error).message}`,
    )
  }
}
