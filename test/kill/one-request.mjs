// Sends one request with an Idempotency-Key to an app that is served here, and dies where it is told to.
import { rota } from '../../dist/index.js'

const [store, where, path, body, key] = process.argv.slice(2)
const app = rota({ store })
app.job('greet', () => 'hello')
const die = () => process.kill(process.pid, 'SIGKILL')
// Told when the change is committed, before its answer is kept.
if (where === 'committed') app.on('operation', die)
const handler = app.handler({ authorize: () => ({ actor: 'ann', role: 'admin' }) })
const request = new Request(`http://127.0.0.1/api/v1${path}`, {
  method: 'POST',
  headers: { host: '127.0.0.1', 'content-type': 'application/json', 'idempotency-key': key },
  body,
})
const response = await handler(request)
if (where === 'answered') die()
const replayed = response.headers.get('idempotency-replayed')
process.stdout.write(JSON.stringify({ status: response.status, replayed, body: await response.json() }))
await handler.close()
await app.close()
