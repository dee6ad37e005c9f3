// The worker pool and the message bus: results as a stream, counters, and a run that no worker takes. It exits when it is done.
import { rota } from 'rota'

const store = 'sqlite:data/bus.db'

// Enqueues a run and stops before performing it; no other process has a handler for its job.
const owner = rota({ app: 'owner', store })
owner.job('notify', () => undefined)
await owner.enqueue('notify', { command: 'notify', user_id: 'user1', metadata: { room: 'a' } })
await owner.close()

const app = rota({ app: 'bus', store, bus: { offerAfter: '200ms' } })
app.job('check_status', () => 'all well')

app.bus.listen(({ name, event }) => {
  if (name !== 'run:offered' || event.times > 1) return
  const { command, user_id: user } = event.task.payload
  console.log(`offered: ${command} for ${user}`)
})
app.bus.subscribe({
  jobs: ['notify'],
  take: (task, run) => {
    run.log(`taken in attempt ${run.attempt}`)
    return `notified ${task.payload.user_id}`
  },
})

const results = app.pool.results()
await app.start()
await app.enqueue('check_status')

let seen = 0
for await (const { job, error, output } of results) {
  console.log(`${job}: ${error === null ? output : error.message}`)
  seen += 1
  if (seen === 2) break
}

const metrics = app.pool.metrics()
console.log(metrics.match(/^rota_pool_tasks.*$/gm).join('\n'))
await app.stop()
