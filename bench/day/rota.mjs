// The whole hour: triggers with their overlap policies, keys, priorities, retries, logs.
import { fromDist } from '../measure.mjs'
import { jobKinds, work } from './plan.mjs'

export async function open({ address, directory, triggers, startAt, endAt, begin }) {
  process.env.XDG_STATE_HOME = directory
  const { rota } = await fromDist('index.js')
  const app = rota({ app: 'day', store: address, concurrency: 20 })
  const jobs = new Map(
    jobKinds.map((kind) => {
      const handler = (run) => {
        const number = begin(run.dueAt.getTime(), run.attempt)
        return work(kind, { number, attempt: run.attempt, log: (text) => run.log(text) })
      }
      return [kind, app.job(kind, handler, { retry: { attempts: 3, delay: '500ms' } })]
    }),
  )
  for (const { name, everyMs, offsetMs, kind, overlap, priority } of triggers)
    app.schedule(name, {
      job: jobs.get(kind),
      every: `${everyMs}ms`,
      anchor: new Date(startAt + offsetMs),
      start: new Date(startAt),
      end: new Date(endAt),
      overlap,
      priority,
    })
  return {
    start: () => app.start(),
    enqueue: ({ kind, key, priority }) => app.enqueue(jobs.get(kind), {}, { concurrencyKey: key, priority }),
    stop: () => app.stop(),
  }
}
