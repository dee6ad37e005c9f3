// pg-boss with large batches, which is its best case. It polls at most twice a second; a worker that knows of a job, or
// whose batch was full, is woken immediately with its `notifyWorker`. It keeps finished jobs for a while. A key is the
// singleton key of a queue that allows one active job per key.
import PgBoss from 'pg-boss'
import { keyOf } from './kinds.mjs'
import { withoutSchema } from './schema.mjs'

const batchSize = 1000

export async function open({ url, perform, joins, kind }) {
  if (!joins) await withoutSchema(url, 'pgboss_bench')
  const boss = new PgBoss({ connectionString: url, schema: 'pgboss_bench', max: 20 })
  boss.on('error', () => undefined)
  await boss.start()
  if (!joins)
    await boss.createQueue('noop', kind === 'key' ? { name: 'noop', policy: 'singleton' } : undefined)
  let worker
  const lookAgain = () => {
    if (worker !== undefined) boss.notifyWorker(worker)
  }
  return {
    enqueueOne: async (data) => {
      await boss.send('noop', data)
      lookAgain()
    },
    enqueueMany: (payloads) =>
      boss.insert(
        payloads.map((data) => ({
          name: 'noop',
          data,
          ...(kind === 'key' ? { singletonKey: keyOf(data) } : {}),
        })),
      ),
    start: async () => {
      worker = await boss.work('noop', { batchSize, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        for (const { data } of jobs) perform(data)
        if (jobs.length === batchSize) lookAgain()
      })
    },
    remaining: () => boss.getQueueSize('noop', { before: 'completed' }),
    stop: () => boss.stop({ graceful: false }),
  }
}
