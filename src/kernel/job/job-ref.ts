import { RotaError } from '../definition/errors.js'

/** A job of this app, with the types of the payload and the result of its runs. */
export interface JobRef<Payload = unknown, Result = unknown> {
  readonly name: string
  /** Never set; it only carries the types. */
  readonly types?: { readonly payload: Payload; readonly result: Result } | undefined
}

/** A job by its name or as `app.job()` returned it. */
export type AnyJob = string | JobRef

/** The payload and options of a call; the payload is required if the job needs one. */
export type WithPayload<Payload, Options> = undefined extends Payload
  ? [payload?: Payload, options?: Options]
  : [payload: Payload, options?: Options]

/** The name of a job. */
export function jobName(job: AnyJob): string {
  const name: unknown = typeof job === 'string' ? job : job?.name
  if (typeof name === 'string') return name
  throw new RotaError('DEFINITION_INVALID', 'the name of a job or an asset was expected')
}
