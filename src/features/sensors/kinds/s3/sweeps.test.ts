import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Observation, PollResult } from '../../sensor.js'
import type { Instant } from '../../../../time/instant.js'
import type { S3Object } from './listing.js'
import { readS3Options, type S3SensorOptions } from './options.js'
import { sensorOver } from './sensor.js'
import { firstSweepState, type SweepState } from '../sweep/sweep.js'

const minute = 60_000
const day = 86_400_000

describe('F6: every new key once, whatever its time', () => {
  test('any history of uploads, late ones, overwrites and removals', async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async ({ steps, options, skewMs }) => {
        const bucket = new ModelBucket({ options, skewMs })
        for (const step of steps) await bucket.play(step)
        await bucket.settleDown()
        expect(bucket.missing()).toEqual([])
        expect([...bucket.reported.keys()].filter((key) => !bucket.ever.has(key))).toEqual([])
        expect(bucket.largestState).toBeLessThan(4096)
        expect(await bucket.sweep()).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('keys that sort by time, each at most the look-back later than a greater one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12 * minute), { maxLength: 60 }), async (delays) => {
        const bucket = new ModelBucket({
          options: { ordered: true, lookBack: '15m', pageSize: 3 },
          skewMs: 0,
        })
        const uploads = delays.map((delayMs, index) => ({ key: keyOf(index), at: index * minute + delayMs }))
        for (const { key, at } of uploads.toSorted((a, b) => a.at - b.at)) {
          bucket.bucketNow = Math.max(bucket.bucketNow, epoch + at)
          bucket.put(key, bucket.bucketNow)
          await bucket.poll()
        }
        await bucket.settleDown()
        expect(bucket.missing()).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})

describe('F6: few keys are reported unnecessarily', () => {
  test('an unchanged bucket reports nothing', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    for (let index = 0; index < 5000; index++) bucket.put(keyOf(index), epoch - minute)
    expect(await bucket.sweep()).toHaveLength(5000)
    bucket.bucketNow += minute
    expect(await bucket.sweep()).toEqual([])
    expect(await bucket.sweep()).toEqual([])
  })

  test('objects with a time in the future are found, and not again in every sweep', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    for (let index = 0; index < 100; index++) bucket.put(keyOf(index), epoch + day)
    expect(await bucket.sweep()).toHaveLength(100)
    expect(await bucket.sweep()).toEqual([])
    bucket.put('one more', epoch + 2 * day)
    for (let count = 0; count < 2; count++) await bucket.sweep()
    expect(bucket.missing()).toEqual([])
    expect(await bucket.sweep()).toEqual([])
  })

  test('an upload that began a month ago costs a bin, once', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    for (let index = 0; index < 6400; index++) bucket.put(keyOf(index), epoch - 60 * day)
    await bucket.sweep()
    bucket.put('late', epoch - 30 * day)
    bucket.bucketNow += minute
    expect(await bucket.sweep()).toEqual([])
    const second = await bucket.sweep()
    expect(second.map(({ key }) => key)).toContain('late')
    expect(second.length).toBeLessThan(200)
    expect(await bucket.sweep()).toEqual([])
  })

  test('a stream of uploads reports each at most twice, and little else', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    for (let index = 0; index < 2000; index++) bucket.put(keyOf(index), epoch - day)
    await bucket.sweep()
    let count = 0
    for (let index = 2000; index < 2100; index++) {
      bucket.put(keyOf(index), bucket.bucketNow)
      count += (await bucket.sweep()).length
      bucket.bucketNow += 30_000
    }
    expect(count).toBeLessThanOrEqual(200)
    expect(bucket.missing()).toEqual([])
  })

  test('however much is removed and comes late, one sweep reports only a bounded part again, and all is found', async () => {
    const bucket = new ModelBucket({ options: { pageSize: 1000 }, skewMs: 0 })
    for (let index = 0; index < 40_000; index++) bucket.put(keyOf(index), epoch - day)
    await bucket.sweep()
    for (let index = 0; index < 40_000; index += 200) bucket.objects.delete(keyOf(index))
    for (let index = 0; index < 300; index++) bucket.put(`late/${index}`, epoch - 2 * day)
    bucket.bucketNow += minute
    expect(await bucket.sweep()).toEqual([])
    expect(bucket.missing()).toHaveLength(300)
    for (let count = 0; count < 5; count++) {
      const again = await bucket.sweep()
      expect(again.length).toBeGreaterThan(0)
      expect(again.length).toBeLessThan(12_000)
    }
    expect(bucket.missing()).toEqual([])
    expect(await bucket.sweep()).toEqual([])
  })

  test('with keys that sort by time only the newest are listed', async () => {
    const bucket = new ModelBucket({ options: { ordered: true, lookBack: '1h' }, skewMs: 0 })
    for (let index = 0; index < 3000; index++) bucket.put(keyOf(index), epoch - day + index)
    bucket.put(keyOf(3000), epoch - minute)
    expect(await bucket.sweep()).toHaveLength(3001)
    bucket.bucketNow += minute
    bucket.put(keyOf(3001), bucket.bucketNow)
    bucket.listed = 0
    expect((await bucket.sweep()).map(({ key }) => key)).toEqual([keyOf(3001)])
    expect(bucket.listed).toBe(2)
  })
})

describe('F6: items that are left for later', () => {
  test('an object younger than the settle time waits and is not lost', async () => {
    const bucket = new ModelBucket({ options: { settle: '5m' }, skewMs: 0 })
    bucket.put('a', epoch)
    expect(await bucket.sweep()).toEqual([])
    bucket.bucketNow += 4 * minute
    bucket.put('a', bucket.bucketNow)
    bucket.bucketNow += 4 * minute
    expect(await bucket.sweep()).toEqual([])
    bucket.bucketNow += minute
    expect((await bucket.sweep()).map(({ key }) => key)).toEqual(['a'])
  })

  test('with startFrom now only items after the first poll are found', async () => {
    const bucket = new ModelBucket({ options: { startFrom: 'now' }, skewMs: 0 })
    bucket.put('old', epoch - day)
    bucket.put('same second', epoch)
    expect(await bucket.sweep()).toEqual([])
    bucket.bucketNow += minute
    bucket.put('z', epoch)
    bucket.put('same second later', epoch + 1)
    const found = await bucket.sweep()
    expect(found.map(({ key }) => key)).toEqual(['same second later', 'z'])
    bucket.objects.delete('old')
    bucket.put('old 2', epoch - day)
    bucket.bucketNow += minute
    for (let count = 0; count < 3; count++) expect(await bucket.sweep()).toEqual([])
  })

  test('other settings start from the beginning', async () => {
    const bucket = new ModelBucket({ options: { prefix: 'a/' }, skewMs: 0 })
    bucket.put('a/1', epoch - day)
    bucket.put('b/1', epoch - day)
    expect((await bucket.sweep()).map(({ key }) => key)).toEqual(['a/1'])
    bucket.config = readS3Options({ bucket: 'model', prefix: 'b/' })
    expect((await bucket.sweep()).map(({ key }) => key)).toEqual(['b/1'])
  })
})

describe('F6: a partition function that throws', () => {
  test('is named with the key, blocks no other key, and its key is found once it works', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    let isBroken = true
    const partition = (key: string): string => {
      if (isBroken && key === 'b') throw new Error('no such month')
      return key
    }
    bucket.config = readS3Options({ bucket: 'model', partition })
    for (const key of ['a', 'b', 'c']) bucket.put(key, epoch - day)
    const first = await bucket.poll()
    expect(first).toMatchObject({ kind: 'trigger', more: true })
    expect(await bucket.poll()).toMatchObject({
      kind: 'error',
      reason: '"b" cannot be reported: its partition function threw: no such month',
    })
    expect(await bucket.poll()).toMatchObject({
      kind: 'no-trigger',
      reason: 'nothing new: 3 examined, 1 that cannot be reported',
    })
    isBroken = false
    expect((await bucket.sweep()).map(({ key }) => key)).toEqual(['b'])
    expect(await bucket.sweep()).toEqual([])
  })

  test('for too many keys blocks the rest, and loses none', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    let isBroken = true
    const partition = (key: string): string => {
      if (isBroken) throw new Error('broken')
      return key
    }
    bucket.config = readS3Options({ bucket: 'model', partition, pageSize: 10 })
    for (let index = 0; index < 100; index++) bucket.put(keyOf(index), epoch - day)
    for (let count = 0; count < 3; count++)
      expect(await bucket.poll()).toMatchObject({
        kind: 'error',
        reason: `"${keyOf(20)}" cannot be reported: its partition function threw: broken; nor can too many others, so the rest waits`,
      })
    isBroken = false
    await bucket.settleDown()
    expect(bucket.missing()).toEqual([])
  })

  test('undefined leaves a key out, any other value that is not a text is named', async () => {
    const bucket = new ModelBucket({ options: {}, skewMs: 0 })
    const partition = (key: string): string | undefined =>
      key === 'a' ? undefined : (7 as unknown as string)
    bucket.config = readS3Options({ bucket: 'model', partition })
    bucket.put('a', epoch)
    expect(await bucket.poll()).toMatchObject({ kind: 'no-trigger' })
    bucket.put('b', epoch)
    expect(await bucket.poll()).toMatchObject({
      reason: expect.stringContaining('its partition function returned 7, not a text'),
    })
  })
})

test('F6: keys of the maximum length are distinguished, also with versions, and fit the store', async () => {
  const bucket = new ModelBucket({ options: { version: true }, skewMs: 0 })
  const keys = ['a', 'b'].map((end) => 'ü'.repeat(511) + end)
  for (const key of keys) bucket.put(key, epoch)
  const found = await bucket.sweep()
  expect(new Set(found.map(({ key }) => key)).size).toBe(2)
  expect(found.map(({ payload }) => (payload as unknown as S3Object).key)).toEqual(keys)
  for (const { key } of found) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
})

test('F6: a partition that the store would refuse is an error of its key alone', async () => {
  const bucket = new ModelBucket({ options: {}, skewMs: 0 })
  const partition = (key: string): string => (key === 'b' ? 'x'.repeat(257) : key)
  bucket.config = readS3Options({ bucket: 'model', partition })
  for (const key of ['a', 'b', 'c']) bucket.put(key, epoch)
  expect(await bucket.poll()).toMatchObject({ kind: 'trigger', observations: [{ key: 'a' }, { key: 'c' }] })
  expect(await bucket.poll()).toMatchObject({
    reason: '"b" cannot be reported: its partition has more than 256 bytes',
  })
})

const epoch: Instant = Date.UTC(2026, 0, 5)

type Step =
  | { kind: 'put'; key: string; ageMs: number }
  | { kind: 'remove'; key: string }
  | { kind: 'wait'; ms: number }
  | { kind: 'poll' }

/** A simulated bucket, and the sensor that polls it. */
class ModelBucket {
  readonly objects = new Map<string, S3Object>()
  readonly ever = new Set<string>()
  readonly reported = new Map<string, Observation>()
  config: ReturnType<typeof readS3Options>
  bucketNow = epoch
  largestState = 0
  listed = 0
  #versions = 0
  #sorted: { of: string; keys: readonly string[] } = { of: '', keys: [] }
  #state: SweepState = firstSweepState('')
  readonly #skewMs: number
  readonly #sensor = sensorOver({
    page: async ({ after, pageSize }) => this.#page(after, pageSize),
    close: async () => undefined,
  })

  constructor({ options, skewMs }: { options: Partial<S3SensorOptions>; skewMs: number }) {
    this.config = readS3Options({ bucket: 'model', ...options })
    this.#skewMs = skewMs
  }

  async play(step: Step): Promise<void> {
    if (step.kind === 'put') this.put(step.key, this.bucketNow - step.ageMs)
    if (step.kind === 'remove') this.objects.delete(step.key)
    if (step.kind === 'wait') this.bucketNow += step.ms
    if (step.kind === 'poll') await this.poll()
  }

  put(key: string, lastModifiedAt: Instant): void {
    this.objects.set(key, { key, size: 1, etag: `v${this.#versions++}`, lastModifiedAt })
    this.ever.add(this.#identity(key))
  }

  async poll(): Promise<PollResult<SweepState>> {
    const result = await this.#sensor.poll(this.#state, {
      config: this.config,
      now: new Date(this.bucketNow + this.#skewMs),
      timezone: 'UTC',
      signal: new AbortController().signal,
    })
    // The state goes through the store.
    const text = JSON.stringify(result.state)
    this.largestState = Math.max(this.largestState, text.length)
    this.#state = JSON.parse(text) as SweepState
    if (result.kind === 'trigger')
      for (const found of result.observations) this.reported.set(found.key, found)
    return result
  }

  /** Polls until a sweep is complete. */
  async sweep(): Promise<readonly Observation[]> {
    const found: Observation[] = []
    for (;;) {
      const result = await this.poll()
      if (result.kind === 'trigger') found.push(...result.observations)
      if (result.kind === 'error' || result.more !== true) return found
    }
  }

  /** Waits until everything has settled, then sweeps until late objects are found. */
  async settleDown(): Promise<void> {
    for (let count = 0; count < 4; count++) {
      this.bucketNow += 20 * minute
      await this.sweep()
    }
    for (let count = 0; count < 2; count++) await this.sweep()
  }

  missing(): readonly string[] {
    const { settleMs } = this.config
    const settledAt = this.bucketNow + Math.min(0, this.#skewMs) - settleMs
    return [...this.objects.values()]
      .filter(({ lastModifiedAt }) => settleMs === 0 || lastModifiedAt <= settledAt)
      .map(({ key }) => key)
      .filter((key) => !this.reported.has(this.#identity(key)))
  }

  #identity(key: string): string {
    return this.config.version ? `${key}#${this.objects.get(key)?.etag}` : key
  }

  /** Sorting takes most of the time of a large simulation, so it is done once for each set of objects. */
  #keys(): readonly string[] {
    const { prefix } = this.config
    const of = `${prefix} ${this.objects.size} ${this.#versions}`
    if (this.#sorted.of !== of)
      this.#sorted = { of, keys: [...this.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted() }
    return this.#sorted.keys
  }

  #page(after: string, pageSize: number) {
    const keys = this.#keys()
    const start = keys.findIndex((key) => key > after)
    const page = start < 0 ? [] : keys.slice(start, start + pageSize)
    this.listed += page.length
    return {
      objects: page.map((key) => this.objects.get(key) as S3Object),
      isLast: start < 0 || start + pageSize >= keys.length,
      // Half of the servers send no time; then the clock of the host is used.
      at: this.#skewMs % 2 === 0 ? this.bucketNow : undefined,
    }
  }
}

function histories() {
  const key = fc.integer({ min: 0, max: 40 }).map(keyOf)
  const prefetch = fc.nat(3 * day).map((ms) => -ms)
  const age = fc.oneof(fc.constant(0), fc.nat(20 * minute), fc.nat(90 * day), prefetch)
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), key, ageMs: age }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), key }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(3 * minute) }) },
    { weight: 4, arbitrary: fc.constant({ kind: 'poll' as const }) },
  )
  return fc.record({
    steps: fc.array(step, { maxLength: 80 }),
    skewMs: fc.constantFrom(0, 1, -7 * minute - 1, 45 * minute + 1, 2),
    options: fc.record({
      pageSize: fc.constantFrom(1, 2, 5, 1000),
      keysPerPoll: fc.constantFrom(1, 7, 1000),
      version: fc.boolean(),
      settle: fc.constantFrom('0s', '1m', '10m'),
    }),
  })
}

function keyOf(index: number): string {
  return `data/${String(index).padStart(6, '0')}`
}
