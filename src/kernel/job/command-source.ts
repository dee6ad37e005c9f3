import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'
import type { Labels } from '../run/run.js'
import { taskIdOf } from '../run/task.js'
import type { StoredTrigger } from '../trigger/trigger.js'

/** The source of command jobs in the store; for a file that is used in place, its path follows. */
export const jobsSource = 'jobs'

/** Whether a trigger of this source is a command job. */
export function isJobsSource(source: string): boolean {
  return source === jobsSource || source.startsWith(`${jobsSource}:`)
}

/** The labels of a run of a trigger; a run of a command job also has its task id. */
export function runLabels(
  { trigger, source }: Pick<StoredTrigger, 'trigger' | 'source'>,
  { run, dueAt }: { readonly run: RunId; readonly dueAt: Instant },
): { readonly labels?: Labels } {
  const { name, job, labels } = trigger
  if (!isJobsSource(source)) return labels === undefined ? {} : { labels }
  return { labels: { ...labels, task_id: taskIdOf({ run, job, trigger: name, dueAt }) } }
}
