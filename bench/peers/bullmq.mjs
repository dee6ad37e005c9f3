// BullMQ on Redis, finished jobs removed: it then does less than Rota, which keeps them.
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

export const variants = ['redis-aof']

export async function open({ redisPort, concurrency, perform }) {
  const connection = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null }
  const client = new Redis(connection)
  await client.flushall()
  await client.quit()
  const queue = new Queue('bench', {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })
  await queue.waitUntilReady()
  let worker
  return {
    enqueueOne: (payload) => queue.add('noop', payload),
    enqueueMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'noop', data }))),
    start: async () => {
      worker = new Worker('bench', async (job) => perform(job.data), { connection, concurrency })
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
