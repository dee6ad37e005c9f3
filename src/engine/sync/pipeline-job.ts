import { jobDefaults, type Job } from '../../kernel/job/job.js'
import { pipelineJob } from '../../kernel/job/pipeline.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { defineJobs } from './sync.js'

/** Defines the job of runs that name their pipeline file themselves, unless a job with that name exists. */
export async function definePipelineJob(store: Store, now: Instant): Promise<void> {
  const stored = await store.jobs()
  if (stored.some(({ job }) => job.name === pipelineJob && job.ended !== true)) return
  const job: Job = { ...jobDefaults, name: pipelineJob, handler: { kind: 'pipeline' } }
  await defineJobs(store, { name: 'plans', jobs: [job], queues: [] }, now)
}
