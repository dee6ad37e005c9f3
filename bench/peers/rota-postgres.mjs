// Rota through its public library, on Postgres.
import { withoutSchema } from './schema.mjs'
import { fromDist } from '../measure.mjs'

export async function open({ url, directory, concurrency, perform, joins, schema = 'rota_bench' }) {
  process.env.XDG_STATE_HOME = directory
  if (!joins) await withoutSchema(url, schema)
  const { rota } = await fromDist('index.js')
  const app = rota({ app: 'bench', store: `${url}&schema=${schema}`, concurrency })
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
