import type { Events, OperationNotice } from './events.js'
import { RotaError } from '../kernel/definition/errors.js'

/** A call of an app, and how its outcome is reported. */
export interface Asked<Answer> {
  readonly operation: string
  readonly target: string
  readonly outcome: (answer: Answer) => string
  /** A dry run changes nothing, so it is not reported. */
  readonly dryRun?: boolean | undefined
  readonly details?: ((answer: Answer) => NonNullable<OperationNotice['details']>) | undefined
}

/** Performs an operation and emits an event when it is stored or has failed. */
export async function performOperation<Answer>(
  events: Events,
  asked: Asked<Answer>,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const { operation, target } = asked
  if (asked.dryRun === true) return await act()
  try {
    const answer = await act()
    const details = asked.details?.(answer)
    events.emit('operation', { operation, target, outcome: asked.outcome(answer), details })
    return answer
  } catch (error) {
    emitFailure(events, { operation, target }, error)
    throw error
  }
}

/** Emits the event of a failed operation. */
export function emitFailure(
  events: Events,
  { operation, target }: Pick<Asked<never>, 'operation' | 'target'>,
  error: unknown,
): void {
  const code = error instanceof RotaError ? error.code : 'UNEXPECTED'
  const message = error instanceof Error ? error.message : String(error)
  events.emit('operation', { operation, target, outcome: 'failed', details: { code, message } })
}

/** The first ids of a list, for a log line. */
export function someIds(ids: readonly string[]): readonly string[] {
  return ids.slice(0, mostIds)
}

const mostIds = 10
