// The smallest app: one job, every night at two. Ctrl-C stops it.
import { rota } from 'rota'

const app = rota({ store: 'sqlite:data/rota.db' })

const report = app.job(
  'report',
  (run) => run.log(`report due at ${run.dueAt.toISOString()}, attempt ${run.attempt}`),
  { retry: 5, timeout: '10m' },
)
app.schedule('nightly', { job: report, cron: '0 2 * * *', timezone: 'America/New_York' })
app.on('run:ended', ({ job, state, durationMs }) => console.log(`${job}: ${state} in ${durationMs} ms`))

await app.start()
process.once('SIGINT', () => app.stop())
await app.enqueue(report) // once now, in addition to the schedule
