// A receiver of signed webhooks, and a sender that calls it; see docs/guides/sensors/webhook.md.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { observeWebhook, readWebhookRequest, webhookSensor, webhookStatuses } from 'rota/sensors'

const secret = `whsec_${Buffer.from('an example, not a real secret').toString('base64')}`
const { config } = webhookSensor({ secret, partition: 'data.day' })
const seen = new Set()

// In an app, Rota does this itself, and its store keeps the keys.
async function receive(request) {
  const read = await readWebhookRequest(request)
  if (read.kind !== 'read') return read.kind
  const result = await observeWebhook(config, { ...read, now: new Date(), timezone: 'UTC' })
  if (result.kind !== 'observed') return result.kind
  const { key } = result.observation
  const outcome = seen.has(key) ? 'duplicate' : 'accepted'
  seen.add(key)
  return outcome
}

const server = createServer(async (request, response) => {
  const outcome = await receive(request)
  response.writeHead(webhookStatuses[outcome]).end(outcome)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

async function deliver(id, body, key = secret) {
  const time = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
    .update(`${id}.${time}.${body}`)
    .digest('base64')
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  })
  console.log(`${response.status} ${await response.text()}`)
}

const body = JSON.stringify({ type: 'export.done', data: { day: '2026-01-15' } })
await deliver('msg_1', body)
await deliver('msg_1', body)
await deliver('msg_2', body, `whsec_${Buffer.from('somebody else wrote this one').toString('base64')}`)
await deliver('msg_3', JSON.stringify({ type: 'export.done', data: {} }))
server.close()
server.closeAllConnections()
