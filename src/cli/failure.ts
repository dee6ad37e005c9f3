import { type ErrorCode, type Fault, RotaError, TimeError } from '../app/errors.js'
import { printable } from '../app/text.js'
import { exitCodes } from './command.js'

/** Prints what went wrong on standard error and gives the exit code that says so. */
export function reportFailure(
  error: unknown,
  options: { readonly isJson: boolean; readonly isDebug: boolean },
): number {
  const failure = describeFailure(error)
  if (options.isJson) process.stderr.write(`${JSON.stringify({ error: failure })}\n`)
  else for (const line of failureLines(failure)) process.stderr.write(`${printable(line)}\n`)
  if (options.isDebug && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`)
  return exitCodeOf(error)
}

/** What is told of an error. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly faults: readonly Fault[]
}

/** An error as data. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof RotaError) {
    return { code: error.code, message: withoutFaults(error), faults: error.faults }
  }
  if (error instanceof TimeError) {
    const { code, message, allowed } = error
    return { code, message, faults: allowed === undefined ? [] : [{ path: '', message, allowed }] }
  }
  const code = systemCodeOf(error) ?? 'INTERNAL'
  return { code, message: error instanceof Error ? error.message : String(error), faults: [] }
}

/** The exit code that says what kind of failure it was. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof TimeError) return exitCodes.refused
  if (error instanceof RotaError) {
    const isOfStore = error.code.startsWith('STORE_')
    return codesOfErrors[error.code] ?? (isOfStore ? exitCodes.store : exitCodes.refused)
  }
  return systemCodeOf(error) === undefined ? exitCodes.internal : exitCodes.io
}

/** Everything else of a store means that it cannot be used, and all the rest that what was asked for was not right. */
const codesOfErrors: Readonly<Partial<Record<ErrorCode, number>>> = {
  // The disk itself failed: whoever restarts programs should leave this one alone.
  STORE_IO: exitCodes.io,
  LISTEN_FAILED: exitCodes.io,
  RUN_STATE: exitCodes.failed,
  CLOCK_JUMP: exitCodes.failed,
  HANDLER_FAILED: exitCodes.failed,
  HANDLER_MISSING: exitCodes.failed,
  TIMED_OUT: exitCodes.failed,
  CANCELLED: exitCodes.failed,
  LOST: exitCodes.failed,
  SET_ASIDE: exitCodes.failed,
  ALREADY_STARTED: exitCodes.internal,
}

/** What the system itself refused, such as `EACCES`. */
function systemCodeOf(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  return typeof code === 'string' && typeof syscall === 'string' ? code : undefined
}

/** The sentence alone, where it ends with the list of faults that is printed below it. */
function withoutFaults({ message, faults }: RotaError): string {
  const [first = ''] = message.split(':\n')
  if (faults.length > 0 && first.length < message.length) return first
  const list = faults.map((fault) => `${fault.path}: ${fault.message}${allowedText(fault)}`).join('; ')
  return list !== '' && message.endsWith(`: ${list}`) ? message.slice(0, -list.length - 2) : message
}

function failureLines({ code, message, faults }: Failure): string[] {
  return [`error: ${message} [${code}]`, ...faults.map((fault) => `  ${faultLine(fault)}`)]
}

/** A fault of a file also says where it was written. */
function faultLine(fault: Fault & { readonly where?: string }): string {
  const places = [fault.where ?? '', fault.path].filter((place) => place !== '')
  if (places.length === 0) return `allowed: ${fault.allowed ?? ''}`
  return `${places.join(': ')}: ${fault.message}${allowedText(fault)}`
}

function allowedText({ allowed }: Fault): string {
  return allowed === undefined ? '' : ` (allowed: ${allowed})`
}
