import { errorTodo } from '../../kernel/definition/error-todo.js'
import { type ErrorCode, type Fault, RotaError } from '../../kernel/definition/errors.js'
import { TimeError } from '../../time/time-error.js'
import { errorText, listedLines } from '../../text/error-text.js'
import { exitCodes, type Surroundings } from './command.js'
import { messageLines } from './print/wrap.js'
import type { PrintStream } from './print/print-stream.js'
import { usageText } from './usage-error.js'
import { systemCodeOf, systemText } from './system-error.js'

/** Prints an error to standard error and returns its exit code. */
export function reportFailure(error: unknown, { out, environment }: ReportedTo): number {
  const { stderr, isJson } = out
  const failure = describeFailure(error)
  const lines = isJson ? [JSON.stringify({ error: failure })] : failureLines(failure, stderr)
  for (const line of lines) stderr.write(`${line}\n`)
  if (environment['ROTA_DEBUG'] === '1' && error instanceof Error) stderr.write(`${error.stack ?? ''}\n`)
  return exitCodeOf(error)
}

/** Where an error is printed. */
interface ReportedTo extends Pick<Surroundings, 'environment'> {
  readonly out: Pick<Surroundings['out'], 'stderr' | 'isJson'>
}

/** The printed parts of an error. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly faults: readonly Fault[]
  /** What to do about it. */
  readonly todo?: string
}

/** An error as data. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof RotaError) {
    const { code, faults } = error
    return { code, message: withoutFaults(error), faults, todo: errorTodo[code] }
  }
  if (error instanceof TimeError) {
    const { code, message, allowed } = error
    const faults = allowed === undefined ? [] : [{ path: '', message, allowed }]
    return { code, message, faults, todo: errorTodo[code] }
  }
  const code = systemCodeOf(error) ?? 'INTERNAL'
  const message = systemText(error) ?? (error instanceof Error ? error.message : String(error))
  return { code, message: errorText(message), faults: [] }
}

/** The exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof TimeError) return exitCodes.refused
  if (error instanceof RotaError) {
    const isOfStore = error.code.startsWith('STORE_')
    return codesOfErrors[error.code] ?? (isOfStore ? exitCodes.store : exitCodes.refused)
  }
  return systemCodeOf(error) === undefined ? exitCodes.internal : exitCodes.io
}

/** Exceptions: other `STORE_` errors mean that the store cannot be used, all others that the request was refused. */
const codesOfErrors: Readonly<Partial<Record<ErrorCode, number>>> = {
  // The disk itself failed: a service manager should not restart this program.
  STORE_IO: exitCodes.io,
  LISTEN_FAILED: exitCodes.io,
  RUN_STATE: exitCodes.failed,
  CLOCK_JUMP: exitCodes.failed,
  HANDLER_FAILED: exitCodes.failed,
  HANDLER_MISSING: exitCodes.failed,
  TIMED_OUT: exitCodes.failed,
  CANCELLED: exitCodes.failed,
  LOST: exitCodes.failed,
  QUARANTINED: exitCodes.failed,
  ALREADY_STARTED: exitCodes.internal,
}

/** The message without its list of faults, which is printed separately. */
function withoutFaults({ message, faults }: RotaError): string {
  const [first] = faults
  if (first === undefined) return message
  const [sentence = ''] = message.split(':\n')
  const list = `: ${first.path}: ${first.message}`
  return sentence.includes(list) ? sentence.slice(0, sentence.indexOf(list)) : sentence
}

/** One line for one fault; a list below a sentence for several. */
function failureLines({ code, message, faults }: Failure, stderr: PrintStream): string[] {
  const [only, ...others] = faults
  if (only === undefined) return messageLines(`error: ${message} [${code}]`, stderr)
  if (others.length === 0) return messageLines(`error: ${sentenceOf(message, only)} [${code}]`, stderr)
  return [
    ...messageLines(`error: ${message} [${code}]`, stderr),
    ...listedLines(faults.map(faultLine)).flatMap((line) => messageLines(line, stderr, 2)),
  ]
}

function sentenceOf(message: string, only: Fault): string {
  if (!message.includes(only.message)) return `${message}: ${faultLine(only)}`
  const { allowed = '' } = only
  return allowed === '' || message.includes(allowed) ? message : `${message} (allowed: ${allowed})`
}

/** A fault of a file also says where it was written. */
function faultLine(fault: Fault & { readonly where?: string }): string {
  const text = usageText(fault)
  return fault.where === undefined ? text : `${fault.where}: ${text}`
}
