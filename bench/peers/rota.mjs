// Rota through its public library, on SQLite.
import { join } from 'node:path'
import { fromDist } from '../measure.mjs'

export const variants = ['full', 'normal']

export async function open({ variant, directory, concurrency, perform }) {
  process.env.XDG_STATE_HOME = directory
  const { rota } = await fromDist('index.js')
  const app = rota({ store: `sqlite:${join(directory, 'rota.db')}`, durability: variant, concurrency })
  const job = app.job('noop', (run) => perform(run.payload))
  const store = await app.store()
  return {
    enqueueOne: (payload) => app.enqueue(job, payload),
    enqueueMany: (payloads) => app.enqueueMany(job, payloads),
    start: () => app.start(),
    remaining: async () => {
      const { pending, running } = await store.counts()
      return pending + running
    },
    stop: () => app.stop(),
  }
}
