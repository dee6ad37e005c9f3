// An HTTP sensor, polled by hand against a small server; see docs/guides/sensors/http.md.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { httpSensor } from 'rota/sensors'

let day = '2026-01-15'
const server = createServer((request, response) => {
  const etag = `"${day}"`
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
  else response.setHeader('etag', etag).end(JSON.stringify({ export: { done: true, day } }))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const { sensor, config } = httpSensor({
  url: `http://127.0.0.1:${server.address().port}/exports/latest`,
  headers: { Authorization: `Bearer ${process.env.EXPORT_TOKEN ?? 'none'}` },
  ready: 'export.done',
  partition: 'export.day',
})

let { state } = await sensor.init(config)

async function poll() {
  const signal = AbortSignal.timeout(10_000)
  const result = await sensor.poll(state, { config, now: new Date(), timezone: 'UTC', signal })
  state = result.state
  console.log(result.kind === 'trigger' ? `found ${result.observations[0].partition}` : result.reason)
}

await poll()
await poll()
day = '2026-01-16'
await poll()
server.close()
server.closeAllConnections()
