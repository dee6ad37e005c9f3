// A server that implements only the listing of a bucket of S3; for sensors-s3.mjs.
// Usage: node bench/s3-server.mjs --keys=100000; prints its port.
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { keys: { type: 'string', default: '100000' } } })
const count = Number(values.keys)
const firstDay = Date.UTC(2020, 0, 1)

const server = createServer((request, response) => {
  const query = new URL(request.url, 'http://server').searchParams
  const max = Number(query.get('max-keys') ?? 1000)
  const after = query.get('start-after') ?? ''
  const start = after === '' ? 0 : Number(after.slice(-15, -8)) + 1
  const end = Math.min(count, start + max)
  const contents = []
  for (let index = start; index < end; index += 1) contents.push(contentOf(index))
  const head = `<EncodingType>url</EncodingType><IsTruncated>${end < count}</IsTruncated>`
  response.setHeader('content-type', 'application/xml')
  response.end(`<?xml version="1.0"?><ListBucketResult>${head}${contents.join('')}</ListBucketResult>`)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

/** A thousand keys a day, as a pipeline writes them. */
function contentOf(index) {
  const at = new Date(firstDay + index * 86_400).toISOString()
  const key = `events/${at.slice(0, 10)}/part-${String(index).padStart(7, '0')}.parquet`
  const etag = `&quot;${index.toString(16).padStart(32, '0')}&quot;`
  return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified><ETag>${etag}</ETag><Size>1048576</Size></Contents>`
}
