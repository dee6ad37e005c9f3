import { RotaError } from '../kernel/definition/errors.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { LogLine } from '../kernel/run/run.js'
import type { Instant } from '../time/instant.js'

/** The run of an attempt as its handler sees it. */
export interface HandledRun {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly dueAt: Instant
  readonly partition: string | undefined
  readonly payload: unknown
}

/** The input of every handler. */
export interface HandlerContext {
  readonly run: HandledRun
  /** Aborts at the timeout, on a cancel and when the worker stops; there is no other time limit. */
  readonly signal: AbortSignal
  /** Writes a line to the log of the run. */
  log(level: LogLine['level'], text: string): void
}

/** The error that makes an attempt fail. */
export function handlerFailed(message: string, cause?: unknown): RotaError {
  return new RotaError('HANDLER_FAILED', message, { cause })
}

/** The error of an aborted attempt: the reason for the abort. */
export function stoppedError(signal: AbortSignal): Error {
  if (signal.reason instanceof RotaError) return signal.reason
  return new RotaError('CANCELLED', 'stopped on request', { cause: signal.reason })
}
