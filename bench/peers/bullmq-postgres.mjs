// BullMQ on Postgres, finished jobs removed: it then does less than Rota, which keeps them.
import { createPostgresBackend, Queue, Worker } from 'bullmq'
import { withoutSchema } from './schema.mjs'

export async function open({ url, concurrency, perform, joins }) {
  const schema = 'bullmq_bench'
  if (!joins) await withoutSchema(url, schema)
  const connection = { connectionString: url, schema, migrate: !joins, max: 20 }
  const settings = { connection, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } }
  const queue = new Queue('bench', settings, createPostgresBackend)
  queue.on('error', () => undefined)
  await queue.waitUntilReady()
  let worker
  return {
    enqueueOne: (payload) => queue.add('noop', payload),
    enqueueMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'noop', data }))),
    start: async () => {
      worker = new Worker(
        'bench',
        async (job) => perform(job.data),
        { connection, concurrency },
        createPostgresBackend,
      )
      worker.on('error', () => undefined)
      await worker.waitUntilReady()
    },
    remaining: async () => {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
    stop: async () => {
      await worker?.close(true)
      await queue.close()
    },
  }
}
