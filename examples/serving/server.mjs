// The HTTP API of Rota inside a server of your own. Run it with `node examples/serving/server.mjs`.
import { createServer } from 'node:http'
import { rota } from 'rota'

const app = rota({ app: 'serving-example', store: 'sqlite:data/serving.db' })
app.cron('greet', '*/10 * * * * *', () => 'hello')
await app.start()

const users = new Map([['secret-of-ann', { actor: 'ann', role: 'operate' }]])
const api = app.handler({
  // Your server knows its users: a name and a role, or false.
  authorize: (request) => users.get(request.headers.get('x-user-key') ?? '') ?? false,
})

const server = createServer((request, response) => {
  if (request.url?.startsWith('/ops/')) void api.node(request, response)
  else response.end('the rest of the program\n')
})
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  const ask = (key) =>
    fetch(`http://127.0.0.1:${port}/ops/api/v1/triggers`, { headers: { 'x-user-key': key } })
  console.log(`a stranger: ${(await ask('guess')).status}`)
  const { items } = await (await ask('secret-of-ann')).json()
  console.log(`ann sees: ${items.map(({ name }) => name).join(', ')}`)
  await api.close()
  server.close()
  await app.stop()
})
