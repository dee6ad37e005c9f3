import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'
import type { Labels } from '../run/run.js'
import { taskIdOf } from '../run/task.js'
import type { StoredTrigger } from '../trigger/trigger.js'

/** The source of the command jobs that a store keeps itself; a file that is used in place has its path behind it. */
export const jobsSource = 'jobs'

/** Whether a trigger of this source is a command job. */
export function isJobsSource(source: string): boolean {
  return source === jobsSource || source.startsWith(`${jobsSource}:`)
}

/** The labels of a run of a trigger: that of a command job names its task too. */
export function runLabels(
  { trigger, source }: Pick<StoredTrigger, 'trigger' | 'source'>,
  { run, dueAt }: { readonly run: RunId; readonly dueAt: Instant },
): { readonly labels?: Labels } {
  const { name, job, labels } = trigger
  if (!isJobsSource(source)) return labels === undefined ? {} : { labels }
  return { labels: { ...labels, task_id: taskIdOf({ run, job, trigger: name, dueAt }) } }
}
