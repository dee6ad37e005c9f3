// Rota through its public library, on Postgres.
import { withoutSchema } from './schema.mjs'
import { fromDist, inFlight } from '../measure.mjs'
import { keyOf, limit } from './kinds.mjs'

export async function open({ url, directory, concurrency, perform, joins, kind, schema = 'rota_bench' }) {
  process.env.XDG_STATE_HOME = directory
  if (!joins) await withoutSchema(url, schema)
  const { rota } = await fromDist('index.js')
  const app = rota({ app: 'bench', store: `${url}&schema=${schema}`, concurrency })
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
