// The smallest app: one job, one schedule. Ctrl-C stops it in order.
import { rota } from 'rota'

const app = rota({ store: 'sqlite:data/rota.db' })

async function writeReport(run) {
  run.log(`attempt ${run.attempt} of the report due at ${run.dueAt.toISOString()}`)
  return { rows: 42 }
}

const report = app.job('daily_report', writeReport, { retry: { attempts: 5 }, timeout: '10m' })
app.schedule('nightly', { job: report, cron: '0 2 * * *', timezone: 'America/New_York' })

await app.start()
process.once('SIGINT', () => app.stop())

const { id } = await app.triggers.runNow('nightly') // beside what is scheduled
const { state, result } = await app.runs.wait(id)
console.log(`run ${id} is ${state}: ${JSON.stringify(result)}`)
