// Rota through its public library, on SQLite.
import { join } from 'node:path'
import { fromDist, inFlight } from '../measure.mjs'
import { keyOf, limit } from './kinds.mjs'

export const variants = ['full', 'normal']

export async function open({ variant, directory, concurrency, perform, kind }) {
  process.env.XDG_STATE_HOME = directory
  const { rota } = await fromDist('index.js')
  const app = rota({ store: `sqlite:${join(directory, 'rota.db')}`, durability: variant, concurrency })
  const options = kind === 'limit' ? { concurrency: limit } : {}
  const job = app.job('noop', (run) => perform(run.payload), options)
  const store = await app.store()
  return {
    enqueueOne: (payload) => app.enqueue(job, payload),
    enqueueMany: (payloads) =>
      kind === 'key'
        ? inFlight(payloads.length, 50, (i) =>
            app.enqueue(job, payloads[i], { concurrencyKey: keyOf(payloads[i]) }),
          )
        : app.enqueueMany(job, payloads),
    start: () => app.start(),
    remaining: async () => {
      const { pending, running } = await store.counts()
      return pending + running
    },
    stop: () => app.stop(),
  }
}
