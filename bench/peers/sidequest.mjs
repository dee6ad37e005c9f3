// Sidequest on Postgres, in this process and without its own threads, which is best for short jobs. It records jobs one
// by one, keeps finished jobs, and polls. It needs Node 22.
import pg from 'pg'
import { Job, Sidequest } from 'sidequest'
import { inFlight } from '../measure.mjs'

let performed = () => undefined

/** The engine imports this file to find it. */
export class Noop extends Job {
  run(payload) {
    performed(payload)
  }
}

export async function open({ url, concurrency, perform, joins }) {
  performed = perform
  if (!joins) await dropTables(url)
  const options = {
    backend: { driver: '@sidequest/postgres-backend', config: url },
    queues: [{ name: 'default', concurrency }],
    maxConcurrentJobs: concurrency,
    jobPollingInterval: 50,
    fork: false,
    runner: 'inline',
    gracefulShutdown: false,
    skipMigration: joins,
    logger: { level: 'error' },
  }
  await Sidequest.configure(options)
  const enqueueOne = (payload) => Sidequest.build(Noop).enqueue(payload)
  return {
    enqueueOne,
    enqueueMany: (payloads) => inFlight(payloads.length, 10, (i) => enqueueOne(payloads[i])),
    start: () => Sidequest.start({ ...options, dashboard: { enabled: false } }),
    remaining: async () => {
      const { waiting, claimed, running } = await Sidequest.job.count()
      return waiting + claimed + running
    },
    stop: () => Sidequest.stop(),
  }
}

async function dropTables(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`select tablename from pg_tables where tablename like 'sidequest%'`)
  for (const { tablename } of rows) await client.query(`drop table if exists "${tablename}" cascade`)
  await client.end()
}
