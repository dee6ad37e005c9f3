// The smallest app: a report every night at two. Ctrl-C stops it.
import { rota, type RunContext } from 'rota'

const app = rota({ store: 'sqlite:data/rota.db' })

async function writeReport(run: RunContext) {
  run.log(`report due at ${run.dueAt.toISOString()}, attempt ${run.attempt}`)
  return { rows: 42 }
}
const report = app.cron('report', '0 2 * * *', writeReport, { timezone: 'America/New_York', retry: 5 })

await app.start()
process.once('SIGINT', () => app.stop())

const run = await app.enqueue(report) // once now, in addition to the schedule
console.log('report:', await run.result())
