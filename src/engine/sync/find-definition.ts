import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Job } from '../../kernel/job/job.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'

/** The stored job of this name; throws if there is none. */
export async function findJob(store: Store, name: string): Promise<Job> {
  const jobs = await store.jobs()
  const found = jobs.find(({ job }) => job.name === name)
  if (found !== undefined) return found.job
  throw unknownJob(
    name,
    jobs.map(({ job }) => job.name),
  )
}

/** The error for a name that no job has. */
export function unknownJob(name: string, known: readonly string[]): RotaError {
  return new RotaError('JOB_UNKNOWN', noneNamed('job is named', name, { known, list: 'rota list --jobs' }))
}

/** The stored trigger of this name; throws if there is none. */
export async function findTrigger(store: Store, name: string): Promise<StoredTrigger> {
  const [found] = await store.triggers({ names: [name] })
  if (found !== undefined) return found
  const known = (await store.triggers({ active: true })).map(({ trigger }) => trigger.name)
  throw new RotaError('TRIGGER_UNKNOWN', noneNamed('trigger is named', name, { known, list: 'rota list' }))
}
