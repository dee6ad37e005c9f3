import { TimeError } from '../../src/time/time-error.js'

/** The error with which an action refuses its input; fails if the action accepts it. */
export function refusalOf(action: () => unknown): TimeError {
  try {
    action()
  } catch (error) {
    if (error instanceof TimeError) return error
    throw error
  }
  throw new Error('it was accepted')
}
