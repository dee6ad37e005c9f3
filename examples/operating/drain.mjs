// A worker that exits when it is drained: `rota workers drain <host>`, or, as here, `app.workers.drain`.
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { rota } from 'rota'

const app = rota({ store: 'sqlite:data/drain.db', lease: '1s' })
const report = app.job('report', async (run) => {
  await wait(3000)
  run.log('made')
})

const drained = new Promise((resolve) => app.on('worker:drained', resolve))
app.on('worker:draining', ({ running }) => console.log(`takes nothing more, ${running} run to finish`))
app.on('run:started', ({ job }) => console.log(`${job} began`))
app.on('run:ended', ({ job, state }) => console.log(`${job} is ${state}`))

await app.start()
const { id } = await app.enqueue(report)
while ((await app.runs.get(id)).state !== 'running') await wait(20)
await app.workers.drain(`${hostname()}:${process.pid}`)
await app.enqueue(report)
await drained
await app.stop()
console.log('stopped; what it did not take waits for another')
