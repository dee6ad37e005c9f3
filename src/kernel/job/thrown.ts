import { parseDuration } from '../../time/duration.js'

/** Thrown by a handler when a retry cannot help. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** Thrown by a handler that knows when the next try makes sense. It counts as a failure like any other. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly retryAfterMs: number

  /** @param after How long to wait: a duration such as `30s`, or milliseconds. */
  constructor(after: string | number, message = 'try again later', options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = parseDuration(after)
  }
}

/** Thrown by a handler that cannot do its work yet. The attempt counts neither as done nor as failed. */
export class Snooze extends Error {
  override readonly name = 'Snooze'
  readonly snoozeMs: number

  /** @param duration How long to wait: a duration such as `10m`, or milliseconds. */
  constructor(duration: string | number, reason = '', options?: ErrorOptions) {
    super(reason, options)
    this.snoozeMs = parseDuration(duration)
  }
}

/** What a thrown value says about further attempts. */
export interface RetryAdvice {
  /** Whether a retry cannot help. */
  readonly permanent?: true | undefined
  /** How long the next try has to wait. */
  readonly retryAfterMs?: number | undefined
  /** How long the run has to wait, without a failure. */
  readonly snoozeMs?: number | undefined
  /** Its classes, and its own codes: exit code, status. A retry policy may name one of them. */
  readonly kinds?: readonly (string | number)[] | undefined
}

/** The longest wait that a handler may ask for. */
const longestMs = 30 * 86_400_000

/** The advice of a thrown value, by name: a handler may have its own copy of this package with other classes. */
export function retryAdviceOf(thrown: unknown): RetryAdvice {
  if (!(thrown instanceof Error)) return {}
  const { name, retryAfterMs, snoozeMs } = thrown as Error & { retryAfterMs?: unknown; snoozeMs?: unknown }
  const permanent = name === 'PermanentError' ? true : undefined
  const snooze = name === 'Snooze' ? waitOf(snoozeMs) : undefined
  return { permanent, retryAfterMs: waitOf(retryAfterMs), snoozeMs: snooze, kinds: kindsOf(thrown) }
}

/** Copies the advice of another error, which this one replaces. */
export function withAdvice<E extends Error>(error: E, advice: RetryAdvice): E {
  if (advice.permanent === true) error.name = 'PermanentError'
  else if (advice.snoozeMs !== undefined) Object.assign(error, { name: 'Snooze', snoozeMs: advice.snoozeMs })
  return Object.assign(error, { retryAfterMs: advice.retryAfterMs, kinds: advice.kinds })
}

function waitOf(ms: unknown): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? Math.min(Math.round(ms), longestMs) : undefined
}

const codes = ['code', 'exitCode', 'status', 'statusCode'] as const

/** Deeper chains of classes are truncated. */
const mostClasses = 10

function kindsOf(error: Error): (string | number)[] {
  const kinds = new Set<string | number>([error.name])
  const known = error as Error & Partial<Record<(typeof codes)[number] | 'kinds', unknown>>
  if (Array.isArray(known.kinds)) for (const kind of known.kinds) if (isKind(kind)) kinds.add(kind)
  for (const code of codes) if (isKind(known[code])) kinds.add(known[code])
  let prototype = Object.getPrototypeOf(error) as object | null
  for (let i = 0; i < mostClasses && prototype !== null && prototype !== Object.prototype; i++) {
    if (prototype.constructor.name !== '') kinds.add(prototype.constructor.name)
    prototype = Object.getPrototypeOf(prototype) as object | null
  }
  return [...kinds]
}

function isKind(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}
