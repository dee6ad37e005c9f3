// BullMQ on Redis, finished jobs removed: it then does less than Rota, which keeps them. Its free edition has
// no groups, so no keys; it has a limit of a whole queue, and a rate limiter (here one that is never reached).
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { limit } from './kinds.mjs'

export const variants = ['redis-aof']

export async function open({ redisPort, concurrency, perform, kind }) {
  const connection = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null }
  const client = new Redis(connection)
  await client.flushall()
  await client.quit()
  const queue = new Queue('bench', {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })
  await queue.waitUntilReady()
  if (kind === 'limit') await queue.setGlobalConcurrency(limit)
  const limiter = kind === 'rate' ? { limiter: { max: 1_000_000, duration: 1000 } } : {}
  let worker
  return {
    enqueueOne: (payload) => queue.add('noop', payload),
    enqueueMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'noop', data }))),
    start: async () => {
      worker = new Worker('bench', async (job) => perform(job.data), { connection, concurrency, ...limiter })
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
