import type { Json } from '../definition/json.js'
import { runIdOf } from '../identity/identity.js'
import { endEffectFor, slotsFor } from '../identity/occurrence.js'
import type { Job } from '../job/job.js'
import { runDeadlines } from '../sla/deadline.js'
import { formatInstant } from '../../time/instant.js'
import type { EndedRun } from './end-effect.js'
import type { NewRun } from './run.js'

/** A run that finally failed, with the data for its dead letter. */
export interface FailedRun extends EndedRun {
  readonly attempt: number
  readonly payload: Json | undefined
}

/** The label of a dead letter with the id of the run that failed. */
const deadLetterLabel = 'failed_run'

/** The dead letter of a failed run. Its id is derived from the failed attempt, so there is exactly one for each. */
export function deadLetterRun(run: FailedRun, job: Job): NewRun {
  const { code, message, details } = run.error ?? { code: 'FAILED', message: run.reason ?? '' }
  return {
    id: runIdOf({ at: run.at, parts: ['dead-letter', run.id, String(run.attempt)] }),
    job: job.name,
    origin: 'enqueue',
    dueAt: run.at,
    runAt: run.at,
    priority: job.priority,
    payload: {
      run: run.id,
      job: run.job,
      trigger: run.trigger ?? null,
      partition: run.partition ?? null,
      dueAt: formatInstant(run.dueAt),
      attempts: run.attempt,
      error: { code, message, details: details ?? null },
      reason: run.reason ?? null,
      payload: run.payload ?? null,
    },
    slots: slotsFor({ job }),
    ...endEffectFor(job),
    ...runDeadlines({ job }, run.at),
    labels: { [deadLetterLabel]: run.id },
  }
}
