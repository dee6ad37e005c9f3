import { errorPart, errorText, listedLines } from '../../text/error-text.js'
import type { Json } from './json.js'
import { timeErrorCodes, type TimeErrorCode } from '../../time/time-error.js'

/** Every error code of Rota with its meaning; the docs list exactly these. */
export const errorCodes = {
  ...timeErrorCodes,
  DEFINITION_INVALID: 'A job, trigger, queue or config has faults; all of them are listed in `faults`.',
  DEFINITION_CONFLICT: 'A name is already defined by another source; the message names both.',
  JOB_UNKNOWN: 'This store has no job with that name.',
  TRIGGER_UNKNOWN: 'This store has no trigger with that name.',
  CALENDAR_UNKNOWN: 'This store has no calendar with that name.',
  RUN_UNKNOWN: 'No run has that id, or an abbreviated id fits more than one run.',
  RUN_STATE: 'The state of the run does not allow this.',
  REVISION_CHANGED: 'The trigger has changed since it was read; read it again and decide again.',
  BULK_UNKNOWN: 'No bulk action has that id, or it ended more than thirty days ago.',
  CHANNEL_UNKNOWN: 'The app has no channel with that name, so no message can be sent there.',
  WORKER_UNKNOWN: 'This store knows no process or host with that name.',
  TOKEN_UNKNOWN:
    'No token has that id, or the server needs a token to listen for other machines and there is none.',
  PARTITION_INVALID: 'A label is not a partition of its asset; the message says why.',
  PARTITION_TOO_MANY: 'More partitions were requested than the limit that the message names.',
  BACKFILL_UNKNOWN:
    'No backfill has that id. Plans that nobody starts are removed after seven days, all others after ninety.',
  BACKFILL_STATE: 'The state of the backfill does not allow this.',
  BACKFILL_CHANGED: 'A backfill would no longer produce the planned partitions; nothing was started.',
  PAYLOAD_TOO_LARGE: 'A payload is larger than 256 KiB of JSON text.',
  PAYLOAD_INVALID: 'A payload cannot be written as JSON, or does not fit the schema of its job.',
  SWITCH_INVALID: 'A kill switch has a value that is neither on nor off; it counts as off.',
  CONFIG_NOT_FOUND: 'No config file was found where one was expected.',
  CONFIG_INVALID: 'A config file cannot be read or has faults; each is listed with its place.',
  PLAN_INVALID: 'A plan cannot be read or has faults; each is listed with its place.',
  PLAN_UNKNOWN: 'The app has no plan with that name.',
  PIPELINE_INVALID: 'A pipeline file cannot be read or has faults; each is listed with its place.',
  JOBS_INVALID:
    'A jobs file cannot be read or written, or has lines with faults; each is listed with its place.',
  STORE_URL: 'A store address is not one that Rota can open.',
  STORE_NOT_FOUND: 'The store does not exist yet, and the command only reads.',
  STORE_BUSY: 'Another process held the store for longer than the wait limit.',
  READ_TOO_LONG: 'The database needed more than 5 s for a query of the HTTP API.',
  STORE_AWAY: 'The database behind the store cannot be reached; nothing is known to be lost.',
  STORE_NOT_EMPTY: 'The target of a migration is not empty.',
  STORE_MOVE: 'A store could not be migrated; the message says why, and the source store is unchanged.',
  STORE_FULL: 'The disk is full; nothing was changed.',
  STORE_IO: 'The disk failed to read or write; the store was closed.',
  STORE_CORRUPT: 'The store is damaged, or is not a Rota store.',
  STORE_VERSION:
    'The store was made by a newer Rota, or the SQLite library or the Postgres server is too old.',
  STORE_WENT_BACK:
    'The store shows an older state than this host has already seen, as after a restored backup.',
  STORE_CLOSED: 'The store was used after it was closed.',
  CLOCK_JUMP: 'The wall clock jumped so far that planning waits for confirmation.',
  HANDLER_FAILED: 'A handler threw, rejected, or its process or request failed.',
  SECRET_MISSING: 'A secret that a job or sensor refers to is missing in the process that needs it.',
  PACKAGE_MISSING: 'A command needs an optional package that is not installed.',
  HANDLER_MISSING: 'The job has no handler in this process, or its module does not export it.',
  HANDLER_EXITED: 'The thread or process of an isolated handler ended before the handler returned.',
  COMMAND_UNKNOWN:
    'No job has the name of the command, no app handles commands, and no subscriber of the bus took it.',
  STEP_FAILED: 'A step of a pipeline failed; the message and the details name it.',
  TIMED_OUT: 'The attempt took longer than the timeout of its job.',
  CANCELLED: 'The run was cancelled by a user, or replaced by a newer run.',
  LOST: 'The worker that held the run disappeared.',
  QUARANTINED:
    'The run crashed its worker too often and was quarantined; `rota retry` makes it pending again.',
  LISTEN_FAILED: 'The webhook server cannot listen on an address; the message says why.',
  ALREADY_STARTED: 'The app has already been started.',
  USAGE: 'The command line contains unknown commands or options.',
} as const satisfies Record<TimeErrorCode, string> & Record<string, string>

/** One of the stable codes. */
export type ErrorCode = keyof typeof errorCodes

/** One fault of a definition: where, what, and what would be accepted. */
export interface Fault {
  readonly path: string
  readonly message: string
  readonly allowed?: string | undefined
}

/** The error that Rota throws: a stable code, one sentence, and the cause if there is one. */
export class RotaError extends Error {
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  /** Data for programs, in addition to the message; stored with the run that failed. */
  readonly details: Json | undefined

  constructor(code: ErrorCode, message: string, options: RotaErrorOptions = {}) {
    const { cause, faults = [], details, lines = [] } = options
    const list = lines.length === 0 ? '' : `:\n${listedLines(lines).join('\n')}`
    super(
      `${outcomes.has(code) ? message : errorText(message)}${list}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'RotaError'
    this.code = code
    this.faults = faults.map(boundedFault)
    this.details = details
  }
}

/** Their messages contain output of a handler over several lines, which is already bounded when it is read. */
const outcomes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'HANDLER_FAILED',
  'HANDLER_EXITED',
  'STEP_FAILED',
])

/** The parts of an error besides its message. */
export interface RotaErrorOptions {
  readonly cause?: unknown
  readonly faults?: readonly Fault[]
  readonly details?: Json
  /** Lines after the message. */
  readonly lines?: readonly string[]
}

/** A fault and what is allowed, in one line. */
export function faultText({ path, message, allowed }: Fault): string {
  const what = path === '' ? message : `${path}: ${message}`
  return allowed === undefined || allowed === '' ? what : `${what} (allowed: ${allowed})`
}

function boundedFault<Kind extends Fault>(fault: Kind): Kind {
  const { path, message, allowed } = fault
  return {
    ...fault,
    path: errorPart(path),
    message: errorPart(message),
    ...(allowed === undefined ? {} : { allowed: errorPart(allowed) }),
  }
}

/** Throws one error with all faults, if there are any. */
export function refuse(what: string, faults: readonly Fault[]): void {
  if (faults.length === 0) return
  throw new RotaError('DEFINITION_INVALID', `${what} is not valid: ${faults.map(faultText).join('; ')}`, {
    faults,
  })
}
