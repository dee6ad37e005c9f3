// pg-boss with large batches, as suits it best. It polls, twice a second at the most; a worker that is told of a job, or
// whose batch was full, is sent to look again at once with its `notifyWorker`. It keeps what is finished for a while.
// A key is the singleton key of a queue that lets one job with the same key be active.
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
