// A round of five services. Run it with `node examples/rounds/scheduler.mjs`, kill it, and run it again: it continues
// where it was. Another name, as in `node examples/rounds/scheduler.mjs other`, is another round.
import { setTimeout as wait } from 'node:timers/promises'
import { rota } from 'rota'

const name = process.argv[2] ?? 'my_scheduler'
const serviceMs = Number(process.env.SERVICE_MS ?? 3000)
const services = ['s1', 's2', 's3', 's4', 's5']

// A short lease, so that the interrupted service is taken over soon.
const app = rota({ app: 'rounds', store: 'sqlite:data/rounds.db', lease: '2s' })

for (const service of services) {
  app.job(service, async (run) => {
    console.log(`${service} started, attempt ${run.attempt}`)
    await wait(serviceMs, undefined, { signal: run.signal })
    console.log(`${service} finished`)
  })
}

app.rounds.define(name, { every: process.env.ROUND_EVERY ?? '60s', services })
await app.start()

process.once('SIGINT', async () => {
  await app.stop({ grace: '10s' })
  process.exit(0)
})
