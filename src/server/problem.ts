import type { NamedChange } from '../kernel/audit/change-options.js'
import { RotaError, type ErrorCode, type Fault } from '../kernel/definition/errors.js'
import { TimeError } from '../time/time-error.js'

/** A refused request: its status, its code, a sentence, and its faults. */
export class Refusal extends Error {
  readonly status: number
  readonly code: RefusalCode | ErrorCode
  readonly faults: readonly Fault[]
  readonly headers: Readonly<Record<string, string>>
  /** What was changed although the request is refused. */
  readonly changed: readonly NamedChange[] | undefined

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.status = options.status ?? refusals[code].status
    this.faults = options.faults ?? []
    this.headers = options.headers ?? {}
    this.changed = options.changed
  }
}

/** The other parts of a refusal. */
export interface RefusalOptions {
  readonly status?: number
  readonly faults?: readonly Fault[]
  readonly headers?: Readonly<Record<string, string>>
  readonly changed?: readonly NamedChange[]
}

/** The refusals of the server itself, with their status and what the caller can do. */
export const refusals = {
  ROUTE_UNKNOWN: { status: 404, todo: 'GET /api/v1/openapi.json lists every route.' },
  METHOD_NOT_ALLOWED: { status: 405, todo: 'Use a method that the header Allow lists.' },
  REQUEST_MALFORMED: { status: 400, todo: 'Send a well-formed URL, header and body.' },
  REQUEST_INVALID: { status: 422, todo: 'Correct what `errors` lists.' },
  REQUEST_TOO_LARGE: { status: 413, todo: 'Send a smaller body.' },
  REQUEST_TOO_SLOW: { status: 408, todo: 'Send the whole request without pauses.' },
  MEDIA_TYPE: { status: 415, todo: 'Send JSON with the content type application/json.' },
  NOT_SIGNED_IN: { status: 401, todo: 'Send a token as `Authorization: Bearer …`, or sign in.' },
  NOT_ALLOWED: { status: 403, todo: 'Use a token with the role that the message names.' },
  READ_ONLY: { status: 403, todo: 'This server only reads; change it through another one.' },
  HOST_REFUSED: { status: 403, todo: 'Use the address at which the server listens.' },
  ORIGIN_REFUSED: {
    status: 403,
    todo: 'Send changes from a page of this server, or from a program with a token.',
  },
  REVISION_CHANGED: { status: 412, todo: 'Read it again, and repeat the change with its new ETag.' },
  KEY_IN_USE: { status: 409, todo: 'Wait for the first request with this Idempotency-Key to end.' },
  KEY_REUSED: { status: 422, todo: 'Use a new Idempotency-Key for another request.' },
  ANSWER_LOST: { status: 409, todo: 'The change was made: read what `changed` lists, and do not repeat it.' },
  TOO_MANY_REQUESTS: { status: 429, todo: 'Wait as long as the header Retry-After says.' },
  SIMULATION_TOO_LARGE: { status: 422, todo: 'Simulate fewer days, or run `rota simulate` on a machine.' },
  NOT_ANSWERED: { status: 503, todo: 'Send the request again.' },
  TOO_MANY_STREAMS: { status: 503, todo: 'Close other pages, or poll /pulse.' },
} as const satisfies Record<string, { status: number; todo: string }>

/** A code that only the server uses. */
export type RefusalCode = keyof typeof refusals

/** The answer to a request that failed, as RFC 9457 describes it. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly todo: string
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[]
  /** What was changed although the request is refused; with `ANSWER_LOST` only. */
  readonly changed?: readonly NamedChange[]
}

/** The statuses of Rota's own errors; all others are the server's fault. */
const statuses: Partial<Record<ErrorCode, number>> = {
  JOB_UNKNOWN: 404,
  TRIGGER_UNKNOWN: 404,
  CALENDAR_UNKNOWN: 404,
  RUN_UNKNOWN: 404,
  BULK_UNKNOWN: 404,
  BACKFILL_UNKNOWN: 404,
  CHANNEL_UNKNOWN: 404,
  WORKER_UNKNOWN: 404,
  TOKEN_UNKNOWN: 404,
  PLAN_UNKNOWN: 404,
  RUN_STATE: 409,
  REVISION_CHANGED: 412,
  DEFINITION_CONFLICT: 409,
  BACKFILL_CHANGED: 409,
  BACKFILL_STATE: 409,
  PAYLOAD_TOO_LARGE: 413,
  STORE_BUSY: 503,
  READ_TOO_LONG: 503,
  STORE_AWAY: 503,
  STORE_FULL: 503,
  STORE_IO: 503,
  STORE_CLOSED: 503,
  STORE_CORRUPT: 500,
  STORE_VERSION: 500,
  STORE_WENT_BACK: 503,
  SECRET_MISSING: 409,
  HANDLER_MISSING: 409,
}

/** An error of the request or the store, not of the server. */
export type KnownError = Refusal | RotaError | TimeError

/** Whether an error may be shown to the caller. */
export function isKnown(error: unknown): error is KnownError {
  return error instanceof Refusal || error instanceof RotaError || error instanceof TimeError
}

/** The status of an error; most mean that the request is invalid. */
export function statusOf(error: KnownError): number {
  return error instanceof Refusal ? error.status : (statuses[error.code] ?? 422)
}
