// Rota through its public library, on Postgres.
import { withoutSchema } from './schema.mjs'
import { fromDist } from '../measure.mjs'

export async function open({ url, directory, concurrency, perform }) {
  process.env.XDG_STATE_HOME = directory
  await withoutSchema(url, 'rota_bench')
  const { rota } = await fromDist('index.js')
  const app = rota({ store: `${url}&schema=rota_bench`, concurrency })
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
