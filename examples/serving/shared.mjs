// What the examples of other servers share: an app, its users, and a client that asks.
import { rota } from 'rota'

/** The app; it runs in the same process as the server. */
export const app = rota({ app: 'serving-example', store: 'sqlite:data/serving.db' })
app.cron('greet', '*/10 * * * * *', () => 'hello')
await app.start()

const users = new Map([['secret-of-ann', { actor: 'ann', role: 'operate' }]])

/** Your server knows its users: a name and a role, or false. */
export const authorize = (request) => users.get(request.headers.get('x-user-key') ?? '') ?? false

/** Reads, changes and listens as ann, and prints the answers. */
export async function askAsAnn(address, ask = fetch) {
  const headers = { 'x-user-key': 'secret-of-ann', 'content-type': 'application/json' }
  const stranger = await ask(`${address}/api/v1/triggers`)
  console.log(`a stranger: ${stranger.status}`)
  const { items } = await (await ask(`${address}/api/v1/triggers`, { headers })).json()
  console.log(`ann sees: ${items.map(({ name }) => name).join(', ')}`)
  const body = JSON.stringify({ reason: 'a test', dryRun: true })
  const paused = await ask(`${address}/api/v1/triggers/greet/pause`, { method: 'POST', headers, body })
  console.log(`ann would pause: ${(await paused.json()).changed}`)
  const stream = await ask(`${address}/api/v1/stream`, { headers })
  const reader = stream.body.getReader()
  const { value } = await reader.read()
  console.log(`the stream says: ${/event: (\w+)/.exec(new TextDecoder().decode(value))?.[1]}`)
  await reader.cancel()
}
