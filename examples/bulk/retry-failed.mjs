// Retries everything that failed while another system was down.
import { rota } from 'rota'

const app = rota({ store: process.env.ROTA_STORE ?? 'memory:' })
let isUp = false
app.job('mail', () => {
  if (!isUp) throw new Error('connect ECONNREFUSED 10.0.0.7:25')
  return 'sent'
})
await app.start()
const letters = await Promise.all(['Ann', 'Bob', 'Eve'].map((name) => app.enqueue('mail', { name })))
await Promise.all(letters.map(({ id }) => app.runs.wait(id)))

isUp = true
const request = { action: 'retry', filter: 'state:failed job:mail "ECONNREFUSED"', reason: 'mail is back' }
const plan = await app.bulk.start({ ...request, dryRun: true })
console.log(`would retry ${plan.count}`)
const { bulk } = await app.bulk.start(request)
const ended = await app.bulk.perform(bulk.id)
await Promise.all(letters.map(({ id }) => app.runs.wait(id)))
const sent = await app.runs.list({ state: 'done', job: 'mail' })
console.log(`retried ${ended.done}, sent ${sent.length}`)
await app.stop()
