import { RotaError } from '../definition/errors.js'

/** The error of a change that was based on an older state of its trigger. */
export function staleRevision(
  { trigger, tag }: { readonly trigger: string; readonly tag: string },
  current: string | undefined,
): RotaError {
  const now = current === undefined ? 'it was removed' : `it is at "${current}" now`
  return new RotaError('REVISION_CHANGED', `trigger ${trigger} has changed since "${tag}": ${now}`)
}

/** The error of a change whose request timed out and was repeated by another request. */
export function takenOver(): RotaError {
  return new RotaError(
    'REVISION_CHANGED',
    'another request with the same key has taken over; nothing was changed',
  )
}
