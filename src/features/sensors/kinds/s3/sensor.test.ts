import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs, type FauxqsServer } from 'fauxqs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from '../../../../kernel/definition/json.js'
import type { Observation, PollResult } from '../../sensor.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import { parseInstant } from '../../../../time/instant.js'
import { S3Listing } from './listing.js'
import type { S3SensorOptions } from './options.js'
import { maskS3Secrets, s3Problem } from './problem.js'
import { s3Sensor, sensorOver } from './sensor.js'
import { firstSweepState, type SweepState } from '../sweep/sweep.js'

let server: FauxqsServer | undefined
let endpoint: string
let client: S3Client
let bucket: string
let buckets = 0

beforeAll(async () => {
  const { env } = process
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true'
  env['AWS_ACCESS_KEY_ID'] ??= 'test'
  env['AWS_SECRET_ACCESS_KEY'] ??= 'test-secret'
  if (env['S3_TEST_ENDPOINT'] === undefined) server = await startFauxqs({ port: 0, logger: false })
  endpoint = env['S3_TEST_ENDPOINT'] ?? `http://127.0.0.1:${server?.port}`
  client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
})

beforeEach(async () => {
  bucket = `rota-${process.pid}-${++buckets}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
})

afterAll(async () => {
  client.destroy()
  await server?.stop()
})

describe('F6: S3 file arrival over the real protocol', () => {
  test('a key is found with the date in it, and its payload', async () => {
    await put('data/2025-01-15/events.parquet', 'abc')
    const watcher = watch({ prefix: 'data/' })
    const [found] = await watcher.sweep()
    expect(found).toMatchObject({
      key: 'data/2025-01-15/events.parquet',
      partition: '2025-01-15',
      payload: { bucket, key: 'data/2025-01-15/events.parquet', size: 3 },
    })
    expect(found?.payload).toHaveProperty('etag', '900150983cd24fb0d6963f7d28e17f72')
  })

  test('every one of many new keys is found once, page by page', async () => {
    const keys = Array.from({ length: 25 }, (_, index) => `in/2025-01-${String(index + 1).padStart(2, '0')}`)
    for (const key of keys) await put(key)
    await put('out/2025-01-01')
    const watcher = watch({ prefix: 'in/', pageSize: 4, keysPerPoll: 8 })
    const first = await watcher.poll()
    expect(first).toMatchObject({ kind: 'trigger', more: true })
    const rest = await watcher.sweep()
    expect([...observationsOf(first), ...rest].map(({ key }) => key)).toEqual(keys)
    await put('in/0 before all others')
    await put('in/2025-01-10 between')
    const next = keysOf(await watcher.sweep())
    expect(next).toContain('in/0 before all others')
    expect(next).toContain('in/2025-01-10 between')
  })

  test('a key without a valid date has the day of its last change in the zone of the trigger', async () => {
    await put('a/2025-02-30/x')
    const [found] = await watch({}, 'Pacific/Kiritimati').sweep()
    const payload = found?.payload as { lastModified: string } | undefined
    const changedAt = parseInstant(payload?.lastModified ?? '')
    expect(found?.partition).toBe(partitionOf('day', changedAt, 'Pacific/Kiritimati'))
  })

  test('the partition is the user’s function of the key', async () => {
    await put('tenant-7/x.csv')
    const watcher = watch({ partition: (key, { size }) => `${key.split('/')[0]}:${size}` })
    expect((await watcher.sweep()).map(({ partition }) => partition)).toEqual(['tenant-7:1'])
  })

  test('keys with unusual characters are unchanged', async () => {
    const odd = [
      'a b',
      'a+b',
      'a%20b',
      'a&b<c>"d\'',
      'ü/ß/日本',
      '😀',
      'x//y',
      'q?r=s#t',
      'back\\slash',
      '(~!*)',
    ]
    for (const key of odd) await put(key)
    expect(new Set(keysOf(await watch({}).sweep()))).toEqual(new Set(odd))
  })

  test('directory markers are ignored, empty files are found', async () => {
    await put('data/', '')
    await put('data/empty', '')
    expect(keysOf(await watch({}).sweep())).toEqual(['data/empty'])
  })

  test('an overwritten object is found again only with version', async () => {
    await put('a', 'one')
    const [plain, versioned] = [watch({}), watch({ version: true })]
    const before = [keysOf(await plain.sweep()), keysOf(await versioned.sweep())].flat()
    await put('a', 'two')
    const after = [keysOf(await plain.sweep()), keysOf(await versioned.sweep())].flat()
    expect(before).toEqual(['a', expect.stringMatching(/^a#[0-9a-f]{32}$/)])
    expect(after).toEqual(['a', expect.stringMatching(/^a#[0-9a-f]{32}$/)])
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
  })

  test('an object that has not settled is left for later', async () => {
    await put('a')
    const watcher = watch({ settle: '1h' })
    expect(await watcher.poll()).toMatchObject({
      kind: 'no-trigger',
      reason: 'nothing new: 1 examined, 1 not settled yet',
    })
  })

  test('startFrom now ignores what exists', async () => {
    await put('before')
    const watcher = watch({ startFrom: 'now' })
    expect(await watcher.sweep()).toEqual([])
    await put('after')
    expect(keysOf(await watcher.sweep())).toEqual(['after'])
  })

  test('keys that sort by time are found as well', async () => {
    const watcher = watch({ ordered: true, lookBack: '1h', pageSize: 2 })
    for (const key of ['2025-01-01', '2025-01-02', '2025-01-03']) await put(key)
    expect(keysOf(await watcher.sweep())).toEqual(['2025-01-01', '2025-01-02', '2025-01-03'])
    await put('2025-01-04')
    expect(keysOf(await watcher.sweep())).toContain('2025-01-04')
  })

  test('an empty bucket and one that was emptied are not errors', async () => {
    const watcher = watch({})
    expect(await watcher.poll()).toMatchObject({
      kind: 'no-trigger',
      reason: 'nothing new: 0 examined',
      more: false,
    })
    await put('a')
    expect(keysOf(await watcher.sweep())).toEqual(['a'])
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'a' }))
    expect(await watcher.sweep()).toEqual([])
  })

  test('F5: the state is JSON from which another process continues', async () => {
    for (const key of ['a', 'b', 'c']) await put(key)
    const options = { pageSize: 1, keysPerPoll: 1 }
    const first = watch(options)
    expect(keysOf(observationsOf(await first.poll()))).toEqual(['a'])
    const second = watch(options)
    second.state = first.state
    expect(keysOf(await second.sweep())).toEqual(['b', 'c'])
  })

  test('F4: init returns the first state, and after cleanup a poll reconnects', async () => {
    const { sensor, config } = s3Sensor({ bucket, endpoint })
    expect(await sensor.init(config)).toEqual({ kind: 'ok', state: firstSweepState('') })
    await put('a')
    const watcher = watch({})
    await watcher.sweep()
    await watcher.cleanup()
    await put('b')
    expect(keysOf(await watcher.sweep())).toContain('b')
  })
})

describe('F9: what goes wrong is an error with its reason', () => {
  test('no such bucket', async () => {
    const watcher = watch({ bucket: 'rota-that-is-not-there' })
    expect(await watcher.poll()).toMatchObject({
      kind: 'error',
      reason: 'there is no bucket rota-that-is-not-there',
    })
  })

  test('no server, and the sensor continues when there is one', async () => {
    const watcher = watch({ endpoint: 'http://user:secret@127.0.0.1:9' })
    const result = await watcher.poll()
    expect(result).toMatchObject({
      kind: 'error',
      reason: 'http://***@127.0.0.1:9 refused the connection',
    })
  })

  test('an aborted poll says so and keeps its state', async () => {
    await put('a')
    const watcher = watch({})
    const result = await watcher.poll(AbortSignal.abort())
    expect(result).toMatchObject({ kind: 'error', reason: `${endpoint} did not answer in time` })
    expect(keysOf(await watcher.sweep())).toEqual(['a'])
  })

  test('what was found before a page failed is kept', async () => {
    const listing = new S3Listing({ bucket, prefix: '', endpoint, forcePathStyle: true })
    let pages = 0
    const { config } = s3Sensor({ bucket, endpoint, pageSize: 1 })
    const sensor = sensorOver({
      close: () => listing.close(),
      page: (request) =>
        pages++ === 1
          ? Promise.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
          : listing.page(request),
    })
    for (const key of ['a', 'b']) await put(key)
    const context = { config, now: new Date(0), timezone: 'UTC', signal: new AbortController().signal }
    const first = await sensor.poll(firstSweepState(''), context)
    expect(first).toMatchObject({ kind: 'trigger', more: true })
    expect(keysOf(observationsOf(first))).toEqual(['a'])
    expect(keysOf(observationsOf(await sensor.poll(first.state, context)))).toEqual(['b'])
  })

  test('the package is not installed', async () => {
    const missing = Object.assign(new Error("Cannot find package '@aws-sdk/client-s3' imported from x"), {
      code: 'ERR_MODULE_NOT_FOUND',
    })
    const listing = new S3Listing({ bucket, prefix: '', forcePathStyle: false }, () =>
      Promise.reject(missing),
    )
    const { config } = s3Sensor({ bucket })
    const context = { config, now: new Date(0), timezone: 'UTC', signal: new AbortController().signal }
    expect(await sensorOver(listing).poll(firstSweepState(''), context)).toMatchObject({
      kind: 'error',
      reason: 'the S3 sensor needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3',
    })
  })

  const place = { bucket: 'b', prefix: 'p/', forcePathStyle: false }

  test.each([
    [{ name: 'AccessDenied', message: 'Access Denied', $metadata: { httpStatusCode: 403 } }, /s3:ListBucket/],
    [{ name: 'CredentialsProviderError', message: 'x' }, /no credentials were found for s3:\/\/b\/p\//],
    [
      { name: 'PermanentRedirect', message: 'use eu-west-1', $metadata: { httpStatusCode: 301 } },
      /another region; set region \(use eu-west-1\)/,
    ],
    [{ name: 'Error', message: 'Region is missing' }, /set region or AWS_REGION/],
    [{ name: 'Error', code: 'ENOTFOUND', message: 'x' }, /was not found \(ENOTFOUND\)/],
    [{ name: 'SlowDown', message: 'Please reduce your request rate.' }, /SlowDown: Please reduce/],
  ])('%j has its own sentence', (problem, sentence) => {
    expect(s3Problem(problem, place)).toMatch(sentence)
  })

  test('secrets are masked', () => {
    const text =
      'GET https://me:word@h/?X-Amz-Credential=AKIAABCDEFGHIJKLMNOP%2F&X-Amz-Signature=abc AKIAABCDEFGHIJKLMNOP'
    expect(maskS3Secrets(text)).toBe('GET https://***@h/?X-Amz-Credential=***&X-Amz-Signature=*** ***')
  })
})

describe('the options', () => {
  test('all faults are named together', () => {
    const options = {
      prefix: 3,
      settle: 'soon',
      lookBack: '1h',
      pageSize: 2000,
      partition: 'day',
      endpoint: 'minio:9000',
      startFrom: 'yesterday',
      buckett: 'x',
    } as unknown as S3SensorOptions
    expect(() => s3Sensor(options)).toThrow(
      expect.objectContaining({
        code: 'DEFINITION_INVALID',
        faults: expect.arrayContaining(
          [
            'bucket',
            'prefix',
            'settle',
            'lookBack',
            'pageSize',
            'partition',
            'endpoint',
            'startFrom',
            'buckett',
          ].map((path) => expect.objectContaining({ path })),
        ),
      }),
    )
  })

  test('a custom endpoint is addressed by path by default', () => {
    expect(s3Sensor({ bucket: 'b' }).config.forcePathStyle).toBe(false)
    expect(s3Sensor({ bucket: 'b', endpoint }).config.forcePathStyle).toBe(true)
    expect(s3Sensor({ bucket: 'b', endpoint, forcePathStyle: false }).config.forcePathStyle).toBe(false)
  })
})

async function put(key: string, body = 'x'): Promise<void> {
  const Body = Buffer.from(body)
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body, ContentLength: Body.length }))
}

/** A sensor with its state, polled as an engine does. */
function watch(options: Partial<S3SensorOptions>, timezone = 'UTC') {
  const { sensor, config } = s3Sensor({ bucket, endpoint, ...options })
  const watcher = {
    state: firstSweepState(''),
    async poll(signal = new AbortController().signal): Promise<PollResult<SweepState>> {
      const result = await sensor.poll(watcher.state, { config, now: new Date(0), timezone, signal })
      watcher.state = JSON.parse(JSON.stringify(result.state satisfies Json)) as SweepState
      return result
    },
    async sweep(): Promise<readonly Observation[]> {
      const found: Observation[] = []
      for (;;) {
        const result = await watcher.poll()
        if (result.kind === 'error') throw new Error(result.reason)
        found.push(...observationsOf(result))
        if (result.more !== true) return found
      }
    },
    async cleanup(): Promise<void> {
      await sensor.cleanup?.(watcher.state)
    },
  }
  return watcher
}

function observationsOf(result: PollResult<SweepState>): readonly Observation[] {
  return result.kind === 'trigger' ? result.observations : []
}

function keysOf(observations: readonly Observation[]): readonly string[] {
  return observations.map(({ key }) => key)
}
