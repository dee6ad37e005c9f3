import { RotaError } from '../definition/errors.js'

/** A job of this app, with the type of what its runs are given. */
export interface JobRef<Payload = unknown> {
  readonly name: string
  /** Never there: only the type counts. */
  readonly payload?: Payload
}

/** A job by its name or as `app.job()` returned it. */
export type AnyJob = string | JobRef<never> | JobRef

/** The name of a job. */
export function jobName(job: AnyJob): string {
  const name: unknown = typeof job === 'string' ? job : job?.name
  if (typeof name === 'string') return name
  throw new RotaError('DEFINITION_INVALID', 'the name of a job or an asset was expected')
}
