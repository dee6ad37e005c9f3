// An S3 sensor, polled by hand against a small server; see docs/guides/sensors/s3.md.
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import { s3Sensor } from 'rota/sensors'

// The SDK finds the credentials; this server accepts any.
process.env.AWS_ACCESS_KEY_ID = 'example'
process.env.AWS_SECRET_ACCESS_KEY = 'example'
const server = await startFauxqs({ port: 0, logger: false })
const endpoint = `http://127.0.0.1:${server.port}`
const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
await client.send(new CreateBucketCommand({ Bucket: 'lake' }))

const events = s3Sensor({ bucket: 'lake', prefix: 'data/', endpoint })

// The partition comes from the name, undefined ignores a key; an object that is uploaded again is new.
const exports = s3Sensor({
  bucket: 'lake',
  prefix: 'exports/',
  endpoint,
  partition: (key) => /^exports\/(\w+)\.zip$/.exec(key)?.[1],
  version: true,
})

const states = new Map()

async function poll(name, { sensor, config }) {
  const state = states.get(name) ?? (await sensor.init(config)).state
  const signal = AbortSignal.timeout(10_000)
  const result = await sensor.poll(state, { config, now: new Date(), timezone: 'UTC', signal })
  states.set(name, result.state)
  if (result.kind !== 'trigger') console.log(`${name}: ${result.reason}`)
  for (const { partition, payload } of result.observations ?? [])
    console.log(`${name}: ${payload.key} is about ${partition}`)
}

async function upload(key, body) {
  await client.send(new PutObjectCommand({ Bucket: 'lake', Key: key, Body: body }))
}

await poll('events', events)
await upload('data/2025-01-15/events.parquet', '…')
await upload('data/2025-02-30/2025-03-01.parquet', '…')
await poll('events', events)

await upload('exports/january.zip', 'first try')
await upload('exports/readme.txt', 'not of interest')
await poll('exports', exports)
await upload('exports/january.zip', 'second try')
await poll('exports', exports)

await events.sensor.cleanup(states.get('events'))
await exports.sensor.cleanup(states.get('exports'))
client.destroy()
await server.stop()
