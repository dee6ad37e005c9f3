import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RotaError } from '../kernel/definition/errors.js'
import type { ShellSpec } from '../kernel/job/job.js'
import type { Json } from '../kernel/definition/json.js'
import { maskSecrets, resolveTexts } from '../outbound/secrets.js'
import type { Clock } from '../time/clock.js'
import { handlerFailed, stoppedError, type HandlerContext } from './handler-context.js'
import type { OutputLines } from './output-lines.js'
import { ProcessTree, type ProcessEnd, type ProcessSpec } from './process-tree.js'
import { RunOutput } from './run-output.js'
import { shellEnvironment, type Environment } from './shell-env.js'

/** The input of a command handler. */
export interface ShellContext extends HandlerContext {
  readonly clock: Clock
  /** The environment of the worker; a command gets only a few variables of it. */
  readonly environment: Environment
  /** The base of a job's relative directory, and the directory of commands without one. */
  readonly directory?: string | undefined
}

/**
 * Runs the command of a job without a shell and logs its output line by line. Resolves with the exit code and the end
 * of its output; throws if it could not be started, exits with another code than 0, or was aborted. It settles only
 * when the command and everything it started have ended.
 */
export async function performShell(spec: ShellSpec, context: ShellContext): Promise<Json> {
  if (context.signal.aborted) throw stoppedError(context.signal)
  const own = await resolveTexts(spec.env, context)
  if (context.signal.aborted) throw stoppedError(context.signal)
  const mask = (text: string): string => maskSecrets(text, own.secrets)
  const env = shellEnvironment({ base: context.environment, own: own.texts, run: context.run })
  const output = new RunOutput({ log: (level, text) => context.log(level, mask(text)) })
  const end = await endOf({ argv: spec.argv, env, cwd: directoryOf(spec, context) }, output, context)
  if (context.signal.aborted) throw stoppedError(context.signal)
  if (end.exitCode !== 0) throw failedCommand(end, mask(failureOf(end, output.stderr)))
  return { exitCode: 0, stdout: mask(output.stdout.tail(20, 4096)) }
}

async function endOf(spec: ProcessSpec, output: RunOutput, context: ShellContext): Promise<ProcessEnd> {
  const tree = start(spec, context.clock)
  const stop = (): void => tree.stop()
  context.signal.addEventListener('abort', stop, { once: true })
  try {
    output.follow(tree)
    return await tree.ended
  } catch (error) {
    throw notStarted(error, spec)
  } finally {
    context.signal.removeEventListener('abort', stop)
    output.end()
  }
}

function start(spec: ProcessSpec, clock: Clock): ProcessTree {
  try {
    return new ProcessTree(spec, clock)
  } catch (error) {
    throw notStarted(error, spec)
  }
}

function directoryOf(spec: ShellSpec, { directory }: ShellContext): string | undefined {
  if (spec.cwd === undefined) return directory
  return directory === undefined ? spec.cwd : resolve(directory, spec.cwd)
}

/** With its exit code, by which a job may refuse a retry. */
function failedCommand({ exitCode }: ProcessEnd, message: string): RotaError {
  return Object.assign(handlerFailed(message), exitCode === null ? {} : { exitCode })
}

function failureOf(end: ProcessEnd, stderr: OutputLines): string {
  const how = end.signal === null ? `exit ${end.exitCode}` : `killed by ${end.signal}`
  const said = stderr.tail(5, 1000)
  return said === '' ? how : `${how}: ${said}`
}

function notStarted(error: unknown, spec: ProcessSpec): RotaError {
  const [program = ''] = spec.argv
  return handlerFailed(whyNotStarted(error as NodeJS.ErrnoException, { program, cwd: spec.cwd }), error)
}

function whyNotStarted(
  error: NodeJS.ErrnoException,
  spec: { program: string; cwd: string | undefined },
): string {
  const { program, cwd } = spec
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    // The system reports a missing directory like a missing program.
    return cwd === undefined || isDirectory(cwd)
      ? `command not found: ${program}`
      : `directory not found: ${cwd}`
  }
  if (error.code === 'EACCES') return `command is not executable: ${program}`
  if (error.code === 'E2BIG') return `command has too many or too long arguments and variables: ${program}`
  return `command could not be started: ${program} (${error.message})`
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
