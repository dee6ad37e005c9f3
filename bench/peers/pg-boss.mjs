// pg-boss with large batches, as suits it best; it polls. It keeps what is finished for a while.
import PgBoss from 'pg-boss'
import { withoutSchema } from './schema.mjs'

export async function open({ url, perform }) {
  await withoutSchema(url, 'pgboss_bench')
  const boss = new PgBoss({ connectionString: url, schema: 'pgboss_bench', max: 20 })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue('noop')
  return {
    enqueueOne: (data) => boss.send('noop', data),
    enqueueMany: (payloads) => boss.insert(payloads.map((data) => ({ name: 'noop', data }))),
    start: () =>
      boss.work('noop', { batchSize: 1000, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        for (const { data } of jobs) perform(data)
      }),
    remaining: () => boss.getQueueSize('noop', { before: 'completed' }),
    stop: () => boss.stop({ graceful: false }),
  }
}
