// The smallest app: one job, one schedule. `node examples/library/nightly.mjs` starts it, Ctrl-C stops it in order.
import { rota } from 'rota'

const app = rota({ store: 'sqlite:data/rota.db' })

const report = app.job(
  'daily_report',
  async (run) => {
    run.log(`report for ${run.partition}, attempt ${run.attempt}`)
    return { rows: 42 }
  },
  { retry: { attempts: 5 }, timeout: '10m' },
)

app.schedule('nightly', { job: report, cron: '0 2 * * *', timezone: 'America/New_York', partition: 'previous-day' })

await app.start()
process.once('SIGINT', () => app.stop())
process.once('SIGTERM', () => app.stop())

const { id } = await app.runNow('nightly')
const run = await app.wait(id)
console.log(`run ${run.id} is ${run.state}: ${JSON.stringify(run.result)}`)
