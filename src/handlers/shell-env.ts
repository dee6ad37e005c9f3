import { formatInstant } from '../time/instant.js'
import { handlerFailed, type HandledRun } from './handler-context.js'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The longest variable that Linux accepts, including its name, the equals sign and the terminating zero byte. */
const MAX_VARIABLE_BYTES = 131_072

/**
 * The whole environment of a command: the few variables that programs need, those of the job, and those of the run.
 * Nothing else of the worker's environment is passed on, since it contains secrets.
 */
export function shellEnvironment(input: {
  readonly base: Environment
  readonly own: Environment | undefined
  readonly run: HandledRun
}): Record<string, string> {
  const variables = [
    ...Object.entries(input.base).filter(([name]) => isPassedOn(name)),
    ...Object.entries(input.own ?? {}),
    ...Object.entries(runVariables(input.run)),
  ]
  const present = variables.filter((entry): entry is [string, string] => entry[1] !== undefined)
  for (const [name, text] of present) refuseTooLong(name, text)
  return Object.fromEntries(present)
}

const passedOn: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER'])

function isPassedOn(name: string): boolean {
  return passedOn.has(name) || name.startsWith('LC_')
}

function runVariables(run: HandledRun): Environment {
  return {
    ROTA_RUN_ID: run.id,
    ROTA_JOB: run.job,
    ROTA_TRIGGER: run.trigger,
    ROTA_ATTEMPT: String(run.attempt),
    ROTA_LAST_ATTEMPT: run.isLastAttempt ? '1' : undefined,
    ROTA_DUE_AT: formatInstant(run.dueAt),
    ROTA_PARTITION: run.partition,
    ROTA_PAYLOAD: run.payload === undefined ? undefined : JSON.stringify(run.payload),
  }
}

function refuseTooLong(name: string, text: string): void {
  const bytes = Buffer.byteLength(name) + Buffer.byteLength(text) + 2
  if (bytes <= MAX_VARIABLE_BYTES) return
  throw handlerFailed(
    `${name} has ${bytes} bytes, and a command's variable holds at most ${MAX_VARIABLE_BYTES}`,
  )
}
