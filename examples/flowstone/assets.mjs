// Assets, what they are made from, and when they are due. Run it with `node examples/flowstone/assets.mjs`.
import { daily, hourly, rota } from 'rota'

const timezone = 'America/New_York'
const app = rota({ app: 'flowstone', store: 'memory:' })

app.asset('raw_events', {
  partitions: daily({ timezone }),
  retry: 3,
  materialize: ({ partition, slice, log }) => {
    log(`reading events from ${slice.from.toISOString()} to ${slice.until.toISOString()}`)
    return { partition, hours: (slice.until - slice.from) / 3_600_000 }
  },
})

// Follows: a day is made as soon as the same day of raw_events is done.
app.asset('derived_data', {
  partitions: daily({ timezone }),
  deps: ['raw_events'],
  materialize: ({ partition }) => `derived from the events of ${partition}`,
})

app.asset('daily_report', { partitions: daily({ timezone }), materialize: () => 'report' })
app.asset('hourly_metrics', { partitions: hourly(), materialize: () => 'metrics' })
app.asset('realtime_metrics', { partitions: daily(), materialize: () => 'metrics' })

// 2 AM daily, every hour with the hour as partition, every 15 minutes.
await app.schedule('daily_report', { cron: '0 2 * * *', timezone })
await app.schedule('hourly_metrics', { cron: '0 * * * *', partition: 'hour' })
await app.schedule('realtime_metrics', { cron: '*/15 * * * *' })

await app.start()
for (const { name, cron } of await app.listSchedules()) console.log(`${name} is due at ${cron}`)

const followed = new Promise((resolve) =>
  app.on('run:ended', ({ run, job }) => job === 'derived_data' && resolve(run)),
)

// By hand, on the same path. The day on which clocks go back has 25 hours.
const { run } = await app.materialize('raw_events', { partition: '2025-11-02', wait: true })
console.log(run.state, JSON.stringify(run.result))

// What is made from it has followed by itself.
const derived = await app.run(await followed)
console.log(derived.origin, derived.partition, derived.result)

// A range: first what it would do, then doing it.
const range = { from: '2025-11-01', to: '2025-11-04' }
const plan = await app.planBackfill('raw_events', range)
console.log('would make', plan.run.join(' '), '| leaves alone', plan.skip.map(({ label }) => label).join(' '))
const { id } = await app.backfill('raw_events', { ...range, pace: 2 })
let status = await app.backfillStatus(id)
while (status.left > 0) {
  const [next] = await app.runs({ job: 'raw_events', state: 'pending', limit: 1 })
  if (next !== undefined) await app.wait(next.id)
  status = await app.backfillStatus(id)
}
console.log(`${status.done} of ${status.total} done`)
console.log(
  (await app.partitions('raw_events', range)).map(({ label, state }) => `${label} ${state}`).join(', '),
)

console.log(await app.unschedule('realtime_metrics'), await app.unschedule('realtime_metrics'))
await app.stop()
