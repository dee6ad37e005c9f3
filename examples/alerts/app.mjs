// Reports three failed runs to a receiver in one signed message.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { rota } from 'rota'

process.env.HOOK_SECRET ??= 'whsec_c2VjcmV0LW9mLXRoZS1leGFtcGxl'
const receiver = createServer().listen(0, '127.0.0.1')
await once(receiver, 'listening')

const app = rota({ store: process.env.ROTA_STORE ?? 'memory:' })
app.alerts.channel('hook', {
  webhook: { url: `http://127.0.0.1:${receiver.address().port}/`, secret: { env: 'HOOK_SECRET' } },
})
app.alerts.rule('trouble', { on: ['failure', 'recovery'], channels: ['hook'], group: '500ms' })
app.job('mail', () => {
  throw new Error('connect ECONNREFUSED 10.0.0.7:25')
})
await app.start()
for (const name of ['Ann', 'Bob', 'Eve']) await app.enqueue('mail', { name })

const [request, response] = await once(receiver, 'request')
const chunks = []
for await (const chunk of request) chunks.push(chunk)
response.writeHead(204).end()
const message = JSON.parse(Buffer.concat(chunks).toString())
console.log(message.title)
console.log(message.items[0].examples[0].text)
console.log(request.headers['webhook-signature'].startsWith('v1,') ? 'signed' : 'not signed')
await app.stop()
receiver.close()
