// Assets, their dependencies and schedules. Run it with `node examples/assets/assets.mjs`.
import { daily, hourly, rota } from 'rota'

const timezone = 'America/New_York'
const app = rota({ app: 'assets', store: 'memory:' })

app.assets.define('raw_events', {
  partitions: daily({ timezone }),
  retry: 3,
  materialize: ({ partition, slice, log }) => {
    log(`reading events from ${slice.from.toISOString()} to ${slice.until.toISOString()}`)
    return { partition, hours: (slice.until - slice.from) / 3_600_000 }
  },
})

// A day is materialized automatically when the same day of raw_events is done.
app.assets.define('derived_data', {
  partitions: daily({ timezone }),
  deps: ['raw_events'],
  materialize: ({ partition }) => `derived from the events of ${partition}`,
})

app.assets.define('daily_report', { partitions: daily({ timezone }), materialize: () => 'report' })
app.assets.define('hourly_metrics', { partitions: hourly(), materialize: () => 'metrics' })
app.assets.define('realtime_metrics', { partitions: daily(), materialize: () => 'metrics' })

// 2 AM daily, every hour with the hour as partition, every 15 minutes.
await app.assets.schedule('daily_report', { cron: '0 2 * * *', timezone })
await app.assets.schedule('hourly_metrics', { cron: '0 * * * *', partition: 'hour' })
await app.assets.schedule('realtime_metrics', { cron: '*/15 * * * *' })

await app.start()
for (const { name, cron } of await app.assets.schedules()) console.log(`${name} is due at ${cron}`)

const followed = new Promise((resolve) =>
  app.on('run:ended', ({ run, job }) => job === 'derived_data' && resolve(run)),
)

// A manual run uses the same path. The day on which clocks go back has 25 hours.
const { run } = await app.assets.materialize('raw_events', { partition: '2025-11-02', wait: true })
console.log(run.state, JSON.stringify(run.result))

// The asset that depends on it was materialized automatically.
const derived = await app.runs.get(await followed)
console.log(derived.origin, derived.partition, derived.result)

// A range: first a dry run, then the backfill.
const range = { from: '2025-11-01', to: '2025-11-04' }
const plan = await app.assets.backfill('raw_events', { ...range, dryRun: true })
console.log('would make', plan.run.join(' '), '| leaves alone', plan.skip.map(({ label }) => label).join(' '))
const { backfill } = await app.assets.backfill('raw_events', { ...range, concurrency: 2 })
let status = await app.backfills.get(backfill.id)
while (status.left > 0) {
  const [next] = await app.runs.list({ job: 'raw_events', state: 'pending', limit: 1 })
  if (next !== undefined) await app.runs.wait(next.id)
  status = await app.backfills.get(backfill.id)
}
console.log(`${status.done} of ${status.total} done`)
console.log(
  (await app.assets.grid('raw_events', range)).map(({ label, state }) => `${label} ${state}`).join(', '),
)

console.log(await app.assets.unschedule('realtime_metrics'), await app.assets.unschedule('realtime_metrics'))
await app.stop()
