// Handlers that block, exit and never return, each in its own thread or process. The program exits when it is done.
import { fileURLToPath } from 'node:url'
import { rota } from 'rota'

const app = rota({ app: 'isolation', store: 'memory:' })
const module = fileURLToPath(new URL('./jobs/render.mjs', import.meta.url))

app.job('render', { handler: { module }, isolate: 'thread' })
app.job('unruly', { handler: { module, export: 'unruly' }, isolate: 'process' })
app.job('endless', { handler: { module, export: 'endless' }, isolate: 'thread', timeout: '500ms' })
app.job('tick', () => 'tock')

await app.start()
const final = async (job, payload) => app.runs.wait((await app.enqueue(job, payload)).id)

const rendering = final('render', { pages: 3 })
let ticks = 0
let isRendered = false
rendering.then(() => (isRendered = true))
while (!isRendered) {
  await final('tick')
  ticks += 1
}
console.log(`render: ${JSON.stringify((await rendering).result)}, while others went on: ${ticks > 1}`)

const unruly = await final('unruly')
console.log(`unruly: ${unruly.error.code}: ${unruly.error.message}`)

const endless = await final('endless')
console.log(`endless: ${endless.error.code}`)

console.log(`this process is still here: ${app.isReady}`)
await app.stop()
