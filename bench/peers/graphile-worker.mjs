// graphile-worker with its default settings, or (variant "local") with a local queue and batched completion, which its
// documentation offers for high loads: a process then takes hundreds of jobs ahead of time. It deletes finished jobs, so it
// does less than Rota, which keeps them. A key is a named queue, which performs one job at a time.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { keyOf } from './kinds.mjs'
import { withoutSchema } from './schema.mjs'

export async function open({ url, concurrency, perform, joins, kind, variant }) {
  const schema = 'graphile_bench'
  if (!joins) await withoutSchema(url, schema)
  const pgPool = new pg.Pool({ connectionString: url, max: 20 })
  pgPool.on('error', () => undefined)
  const logger = new Logger(() => () => undefined)
  const utils = await makeWorkerUtils({ pgPool, schema, logger })
  await utils.migrate()
  const batches =
    variant === 'local'
      ? {
          localQueue: { size: Math.max(500, 2 * concurrency) },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        }
      : {}
  let runner
  return {
    enqueueOne: (payload) => utils.addJob('noop', payload),
    enqueueMany: (payloads) =>
      utils.addJobs(
        payloads.map((payload) => ({
          identifier: 'noop',
          payload,
          ...(kind === 'key' ? { queueName: keyOf(payload) } : {}),
        })),
      ),
    start: async () => {
      runner = await run({
        pgPool,
        schema,
        logger,
        noHandleSignals: true,
        taskList: { noop: async (payload) => perform(payload) },
        preset: { worker: { concurrentJobs: concurrency, maxPoolSize: 20, pollInterval: 1000, ...batches } },
      })
    },
    remaining: async () => {
      const { rows } = await pgPool.query(`select count(*)::int as left from ${schema}._private_jobs`)
      return rows[0].left
    },
    stop: async () => {
      await runner?.stop()
      await utils.release()
      await pgPool.end()
    },
  }
}
