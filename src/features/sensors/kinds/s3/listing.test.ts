import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { S3Listing, type S3Page } from './listing.js'

// A fake server that encodes keys like real ones, so that the tests can also send answers that no correct server sends.
let server: Server
let endpoint: string
let asked: URLSearchParams[]
let answer: (query: URLSearchParams) => string

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true'
  process.env['AWS_ACCESS_KEY_ID'] ??= 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test-secret'
  server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://server').searchParams
    asked.push(query)
    response.setHeader('date', 'Mon, 05 Jan 2026 09:00:00 GMT')
    response.setHeader('content-type', 'application/xml').end(answer(query))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

beforeEach(() => {
  asked = []
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

test('F6: keys with any characters are listed, page by page', async () => {
  const keys = ['\u0001', ' ', '%', '+', 'a\nb', 'a b', 'a+b', 'a%20b', 'ü', '\uFFFD', '😀'].toSorted(byBytes)
  answer = (query) => {
    const rest = keys.filter((key) => byBytes(key, query.get('start-after') ?? '') > 0)
    return listing(rest.slice(0, 2), { isTruncated: rest.length > 2 })
  }
  const found: string[] = []
  for (let isLast = false; !isLast; ) {
    const next = await page(found.at(-1) ?? '')
    found.push(...next.objects.map(({ key }) => key))
    isLast = next.isLast
  }
  expect(found).toEqual(keys)
  expect(asked.every((query) => query.get('encoding-type') === 'url')).toBe(true)
})

test('F6: a page has the time of the server and the objects', async () => {
  answer = () => listing(['a'], { isTruncated: false })
  const at = Date.UTC(2026, 0, 5, 9)
  expect(await page('')).toEqual({
    objects: [{ key: 'a', size: 1, etag: 'e', lastModifiedAt: at - 3_600_000 }],
    isLast: true,
    at,
  })
})

test('F6: an empty truncated page is followed by the next one', async () => {
  answer = (query) =>
    query.has('continuation-token')
      ? listing(['z'], { isTruncated: false })
      : listing([], { isTruncated: true, token: 'next' })
  expect((await page('')).objects.map(({ key }) => key)).toEqual(['z'])
})

test.each([
  ['does not go on after a key', ['a', 'b'], 'b', 'the server lists "a" after "b"'],
  ['lists a key again', ['b', 'c'], 'b', 'the server lists "b" after "b"'],
  ['does not sort', ['c', 'B', 'd'], 'a', 'the server lists "B" after "c"'],
])('F6: a server that %s is an error and not a gap', async (_, keys, after, problem) => {
  answer = () => listing(keys, { isTruncated: true, token: 'x' })
  await expect(page(after)).rejects.toThrow(problem)
})

test('F6: a truncated page without a continuation token is an error', async () => {
  answer = () => listing([], { isTruncated: true })
  await expect(page('')).rejects.toThrow('without a continuation token')
})

async function page(after: string): Promise<S3Page> {
  const s3 = new S3Listing({ bucket: 'b', prefix: '', endpoint, forcePathStyle: true })
  try {
    return await s3.page({ after, pageSize: 2, signal: new AbortController().signal })
  } finally {
    await s3.close()
  }
}

function listing(keys: readonly string[], next: { isTruncated: boolean; token?: string }): string {
  const contents = keys.map((key) => {
    const encoded = encodeURIComponent(key).replaceAll('%20', '+')
    const rest =
      '<LastModified>2026-01-05T08:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>1</Size>'
    return `<Contents><Key>${encoded}</Key>${rest}</Contents>`
  })
  const token = next.token === undefined ? '' : `<NextContinuationToken>${next.token}</NextContinuationToken>`
  return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${next.isTruncated}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
