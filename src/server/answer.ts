import { toJson } from '../wire/to-json.js'
import { TimeError } from '../time/time-error.js'
import type { ErrorCode } from '../kernel/definition/errors.js'
import { errorTodo } from '../kernel/definition/error-todo.js'
import { isKnown, Refusal, refusals, statusOf, type Problem } from './problem.js'

/** Headers of every answer: no browser may guess its type, keep it, show it in a frame, or send its address along. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}

/** A complete answer. A Response costs several times as much to create and to send. */
export interface PlainAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer: complete, or as a Response whose body may come later. */
export type Answer = PlainAnswer | Response

/** The same answer as a Response. */
export function toResponse(answer: Answer): Response {
  if (answer instanceof Response) return answer
  const { status, headers, body } = answer
  return new Response(body, { status, headers })
}

/** A JSON answer; instants become ISO texts, and undefined becomes null. */
export function jsonAnswer(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  const body = JSON.stringify(toJson(value))
  return { status, headers: { ...safeHeaders, 'content-type': 'application/json', ...headers }, body }
}

/** The answer to a failed request; details that may be confidential are left out. */
export function problemAnswer(error: unknown): PlainAnswer {
  const problem = problemOf(error)
  const headers = {
    ...safeHeaders,
    'content-type': 'application/problem+json',
    ...(problem.status === 503 ? { 'retry-after': '5' } : {}),
    ...(error instanceof Refusal ? error.headers : {}),
  }
  return { status: problem.status, headers, body: JSON.stringify(problem) }
}

/** A failed request in the form for the caller. */
export function problemOf(error: unknown): Problem {
  if (!isKnown(error)) return unexpected
  const { code, message } = error
  const faults = error instanceof TimeError ? [] : error.faults
  return {
    type: `urn:rota:error:${code}`,
    title: code.toLowerCase().replaceAll('_', ' '),
    status: statusOf(error),
    code,
    detail: message,
    todo: code in refusals ? refusals[code as keyof typeof refusals].todo : errorTodo[code as ErrorCode],
    errors: faults.map(({ path, message: detail, allowed }) => ({
      pointer: path,
      detail: allowed === undefined ? detail : `${detail} (allowed: ${allowed})`,
    })),
    ...(error instanceof Refusal && error.changed !== undefined ? { changed: error.changed } : {}),
  }
}

/** An error of the server: its cause is logged here, and not shown to the caller. */
const unexpected: Problem = {
  type: 'about:blank',
  title: 'unexpected error',
  status: 500,
  code: 'UNEXPECTED',
  detail: 'the server could not answer; its log says why',
  todo: 'Try again; if it fails again, check the log of the server.',
  errors: [],
}
