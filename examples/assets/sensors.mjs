// Sensors that materialize assets: files in a bucket and a table that changes. The program exits when it is done.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DatabaseSync } from '@photostructure/sqlite'
import { startFauxqs } from 'fauxqs'
import { daily, rota } from 'rota'
import { s3Sensor, sqlChangeSensor } from 'rota/sensors'

// A bucket and a database to poll. The SDK finds the credentials; this server accepts any.
process.env.AWS_ACCESS_KEY_ID = 'example'
process.env.AWS_SECRET_ACCESS_KEY = 'example'
const server = await startFauxqs({ port: 0, logger: false })
const endpoint = `http://127.0.0.1:${server.port}`
const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
await client.send(new CreateBucketCommand({ Bucket: 'incoming-data' }))
const database = join(mkdtempSync(join(tmpdir(), 'rota-assets-')), 'source.db')
const table = new DatabaseSync(database)
table.exec(`create table source_data (updated_at text); insert into source_data values ('2025-01-15 08:00')`)

const app = rota({ app: 'assets-sensors', store: 'memory:' })
app.assets.define('raw_events', {
  partitions: daily(),
  materialize: ({ partition }) => `events of ${partition}`,
})
app.assets.define('derived_data', {
  partitions: daily(),
  materialize: ({ partition }) => `data of ${partition}`,
})

app.sensors.define('new_data_files', {
  sensor: s3Sensor({ bucket: 'incoming-data', prefix: 'events/', endpoint }),
  every: '30s',
  job: 'raw_events',
})
app.sensors.define('database_updates', {
  sensor: sqlChangeSensor({
    query: 'SELECT MAX(updated_at) FROM source_data',
    url: `sqlite:${database}`,
    partition: (updatedAt) => updatedAt.slice(0, 10),
  }),
  every: '5m',
  job: 'derived_data',
})

// The first poll triggers for every existing file, not only for the first one. An impossible date is ignored.
for (const key of [
  'events/2025-01-15/a.parquet',
  'events/2025-01-16/b.parquet',
  'events/2025-02-30/2025-03-01.parquet',
])
  await client.send(new PutObjectCommand({ Bucket: 'incoming-data', Key: key, Body: '…' }))

const made = new Promise((resolve) => {
  const names = new Set()
  app.on('run:ended', ({ job, result }) => {
    names.add(`${job}: ${result}`)
    if (names.size === 4) resolve([...names].toSorted())
  })
})
await app.start()
for (const name of await made) console.log(name)

await app.stop()
table.close()
client.destroy()
await server.stop()
