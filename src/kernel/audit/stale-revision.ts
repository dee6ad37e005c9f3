import { RotaError } from '../definition/errors.js'

/** The error of a change of a trigger that was decided about an older state of it. */
export function staleRevision(
  { trigger, tag }: { readonly trigger: string; readonly tag: string },
  current: string | undefined,
): RotaError {
  const now = current === undefined ? 'it is gone' : `it is at "${current}" now`
  return new RotaError('REVISION_CHANGED', `trigger ${trigger} has changed since "${tag}": ${now}`)
}

/** The error of a change whose request was given up, and which somebody else has repeated. */
export function takenOver(): RotaError {
  return new RotaError(
    'REVISION_CHANGED',
    'another request with the same key has taken over; nothing was changed',
  )
}
