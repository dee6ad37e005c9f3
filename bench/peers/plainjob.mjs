// plainjob on SQLite, polling every 5 ms. A worker performs one job at a time, so there are as many workers as needed.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker } from 'plainjob'

export const variants = ['full', 'normal']

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const waiting = 0
const underWay = 1

export async function open({ variant, directory, concurrency, perform }) {
  const db = new Database(join(directory, 'plainjob.db'))
  const queue = defineQueue({ connection: better(db), logger })
  db.pragma(`synchronous = ${variant}`)
  const handler = async (job) => perform(JSON.parse(job.data))
  const workers = Array.from({ length: concurrency }, () =>
    defineWorker('noop', handler, { queue, logger, pollIntervall: 5 }),
  )
  return {
    enqueueOne: async (payload) => queue.add('noop', payload),
    enqueueMany: async (payloads) => queue.addMany('noop', payloads),
    start: async () => {
      for (const worker of workers) void worker.start()
    },
    remaining: async () => queue.countJobs({ status: waiting }) + queue.countJobs({ status: underWay }),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      queue.close()
    },
  }
}
