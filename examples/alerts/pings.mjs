// Reports the start and the end of each run to a receiver such as healthchecks.io.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { rota } from 'rota'

const told = []
const receiver = createServer((request, response) => {
  told.push(new URL(request.url, 'http://receiver').pathname)
  response.end('OK')
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${receiver.address().port}`

const app = rota({ store: process.env.ROTA_STORE ?? 'memory:' })
app.job('backup', () => 'done')
app.job('report', () => Promise.reject(new Error('no data')))
const at = new Date(Date.now() + 200)
app.schedule('backup', { job: 'backup', at, ping: `${url}/backup` })
app.schedule('report', { job: 'report', at, ping: `${url}/report` })
await app.start()

const isOver = () => told.includes('/backup') && told.includes('/report/fail')
while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 50))
console.log(
  told
    .filter((path) => !path.endsWith('/start'))
    .toSorted()
    .join('\n'),
)
await app.stop()
receiver.close()
