// Job schedulers, priorities, retries and logs. Left out, because the free edition does not have them: one run of a
// customer at a time (groups are a paid feature), and overlap policies.
import { Queue, Worker } from 'bullmq'
import { work } from './plan.mjs'

const retry = { attempts: 3, backoff: { type: 'exponential', delay: 500 } }

export async function open({ redisPort, triggers, startAt, endAt, begin, isFirst }) {
  const connection = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null }
  const queue = new Queue('day', { connection })
  await queue.waitUntilReady()
  if (isFirst)
    for (const { name, everyMs, offsetMs, kind, priority } of triggers)
      await queue.upsertJobScheduler(
        name,
        { every: everyMs, offset: (startAt + offsetMs) % everyMs, startDate: startAt, endDate: endAt },
        { name: kind, data: {}, opts: { priority, ...retry } },
      )
  let worker
  const perform = (job) => {
    const attempt = job.attemptsMade + 1
    const number = begin(job.data.at ?? job.opts.prevMillis ?? job.timestamp + (job.opts.delay ?? 0), attempt)
    return work(job.name, { number, attempt, log: (text) => void job.log(text) })
  }
  return {
    start: async () => {
      worker = new Worker('day', perform, { connection, concurrency: 20 })
      worker.on('error', () => undefined)
      await worker.waitUntilReady()
    },
    enqueue: ({ kind, priority }) => queue.add(kind, { at: Date.now() }, { priority, ...retry }),
    stop: async () => {
      await worker?.close(true)
      await queue.close()
    },
  }
}
