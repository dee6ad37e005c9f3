import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadApp } from '../src/app/definitions/load-app.js'
import { hasFeatures, type FeatureName } from './features.js'
import { runExample } from './fixtures/run-example.js'
import { filesUnder, root } from './repository.js'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-examples-'))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

/** The features that the configs of examples use, by folder. */
const needed: Readonly<Record<string, readonly FeatureName[]>> = {
  alerts: ['alerts'],
  assets: ['assets'],
  calendars: ['calendars', 'rounds'],
  isolation: ['isolation'],
  plans: ['plans'],
  rounds: ['rounds'],
  sensors: ['sensors'],
  sla: ['alerts', 'assets', 'rounds'],
}

describe('configs', () => {
  const configs = filesUnder('examples', [
    'rota.config.yaml',
    'rota.config.mjs',
    'rota.config.ts',
    'rota.config.json',
  ])

  test('there is one for every page that needs one', () => {
    const folders = configs.map(({ path }) => path.split('/')[1])
    expect(folders).toEqual(
      expect.arrayContaining(['jobs', 'operating', 'policies', 'quickstart', 'schedules']),
    )
  })

  const known = configs.filter(({ path }) => hasFeatures(...(needed[path.split('/')[1] ?? ''] ?? [])))

  test.each(known.map(({ path }) => path))('%s is valid and can be written to a store', async (path) => {
    const app = await loadApp(join(root, path), { directory, store: 'memory:' })
    // Nothing is performed: an example may call external systems.
    const report = await app.start({ roles: { scheduler: true, worker: false } })
    const triggers = await app.triggers.list()
    await app.stop({ grace: 0 })
    expect(report?.defined.length).toBe(triggers.length)
    expect(triggers.length).toBeGreaterThan(0)
  })
})

test('examples/limits has a separate limit for each customer', async () => {
  const app = await loadApp(join(root, 'examples/limits/rota.config.yaml'), { directory, store: 'memory:' })
  await app.start()
  const [first, other, second] = await Promise.all(
    ['ada', 'bob', 'ada'].map((concurrencyKey) => app.enqueue('newsletter', {}, { concurrencyKey })),
  )
  await Promise.all([first?.result(), other?.result()])
  await vi.waitFor(async () => {
    const [reason] = await app.runs.whyPending(second?.id ?? '')
    expect(reason).toMatchObject({ kind: 'rate-limit', of: 'key', key: 'ada', max: 5, perMs: 60_000 })
  })
  await app.stop({ grace: 0 })
})

describe('programs', () => {
  test('examples/library/nightly.ts performs its run and stops', async () => {
    const { code, output } = await runExample('examples/library/nightly.ts', {
      stopAfter: 'rows',
      options: [join(root, 'test/fixtures/run-typescript.mjs')],
    })
    expect(output).toContain('report: { rows: 42 }')
    expect(code).toBe(0)
  })

  test('examples/library/typed.ts checks payloads and types results', async () => {
    const { code, output } = await runExample('examples/library/typed.ts', {
      options: [join(root, 'test/fixtures/run-typescript.mjs')],
    })
    expect({ code, output }).toEqual({ code: 0, output: 'sent: 1\nPAYLOAD_INVALID\n' })
  })

  test('examples/library/app.mjs performs its due runs and what they enqueue', async () => {
    const { code, output } = await runExample('examples/library/app.mjs', { stopAfter: 'mail: done' })
    expect(output).toMatch(/digest: done in \d+ ms/)
    expect(code).toBe(0)
  })

  test('examples/serving/server.mjs serves the API to known users', async () => {
    const { code, output } = await runExample('examples/serving/server.mjs')
    expect({ code, output }).toEqual({ code: 0, output: 'a stranger: 401\nann sees: greet\n' })
  })

  const asked = ['a stranger: 401', 'ann sees: greet', 'ann would pause: true', 'the stream says: hello', '']

  test.each(['express', 'fastify', 'hono'])(
    'examples/serving/%s.mjs serves the API below /ops',
    async (name) => {
      const { code, output } = await runExample(`examples/serving/${name}.mjs`)
      expect({ code, output }).toEqual({ code: 0, output: asked.join('\n') })
    },
  )

  test('examples/serving/next answers the requests that Next.js passes to a route handler', async () => {
    const { code, output } = await runExample('test/fixtures/next-route.mjs')
    expect({ code, output }).toEqual({ code: 0, output: asked.join('\n') })
  })

  test('examples/tracing/traced.mjs traces a run from its enqueue to its attempt', async () => {
    const { code, output } = await runExample('examples/tracing/traced.mjs')
    const lines = ['enqueue mail is part of POST /orders', 'run mail is part of enqueue mail', '']
    expect({ code, output }).toEqual({ code: 0, output: lines.join('\n') })
  })

  test('examples/backfill/backfill.mjs plans the due times of a pause, and runs them once', async () => {
    const { code, output } = await runExample('examples/backfill/backfill.mjs')
    expect(output.trim().split('\n')).toEqual([
      'ran 2026-01-01 2026-01-02 2026-01-06',
      'would run 2026-01-03 2026-01-04 2026-01-05',
      'skips 0 not-defined',
      'skips 2 done',
      'skips 1 done',
      'skips 0 not-planned',
      '3 of 3 done: 2026-01-03 2026-01-04 2026-01-05',
      '4 January: backfill true',
    ])
    expect(code).toBe(0)
  })

  test('examples/moving/move.mjs moves a store and continues in the new one', async () => {
    const { code, output } = await runExample('examples/moving/move.mjs')
    expect(output.trim().split('\n')).toEqual([
      'moved 1 run with all its attempts',
      'report is done in SQLite: made',
    ])
    expect(code).toBe(0)
  })

  test('examples/operating/drain.mjs finishes its runs, takes no more, and stops', async () => {
    const { code, output } = await runExample('examples/operating/drain.mjs')
    expect(output.trim().split('\n')).toEqual([
      'report began',
      'takes nothing more, 1 run to finish',
      'report is done',
      'stopped; what it did not take waits for another',
    ])
    expect(code).toBe(0)
  })

  test('examples/jobs/functions.mjs charges once, fails permanently, and times out', async () => {
    const { code, output } = await runExample('examples/jobs/functions.mjs')
    expect(output.trim().split('\n')).toEqual([
      'the same run: true, charged done',
      'refused: an amount of 0 will not get better',
      'slow: TIMED_OUT',
      'charged 1 time',
    ])
    expect(code).toBe(0)
  })

  test('examples/jobs/retry.mjs snoozes, retries later, gives up, and passes failed runs to a dead-letter job', async () => {
    const { code, output } = await runExample('examples/jobs/retry.mjs')
    expect(output.trim().split('\n').toSorted()).toEqual([
      'a@example.org, attempt 1: the list is not there yet',
      'a@example.org, attempt 2: sent',
      'b@example.org, attempt 1: busy',
      'b@example.org, attempt 2, the last try: sent',
      'c@example.org, attempt 1: no such mailbox',
      'd@example.org, attempt 1: too long',
      'dead letter: mail for c@example.org failed after 1 tries: no such mailbox',
      'dead letter: mail for d@example.org failed after 1 tries: too long',
      'done',
      'done',
      'failed: not retried: its job does not retry RangeError',
      'failed: not retried: the handler threw a permanent error',
    ])
    expect(code).toBe(0)
  })

  test('examples/jobs/bursts.mjs runs the last, the first, and all at a rate', async () => {
    const { code, output } = await runExample('examples/jobs/bursts.mjs')
    expect(output.trim().split('\n').toSorted()).toEqual([
      '2 of alarm dropped',
      'alarm: a',
      'indexed abc',
      'one run for 3 enqueues of index',
      'the third mail waited for at least 400 ms: true',
    ])
    expect(code).toBe(0)
  })

  test('examples/partitions/partitions.mjs labels, lists and maps partitions', async () => {
    const { code, output } = await runExample('examples/partitions/partitions.mjs')
    expect(output.trim().split('\n')).toEqual([
      '2025-01-15 2025-01-15T02:00-05:00 2025-01-14',
      'the day had 23 hours',
      '2025-11 2025-12 2026-01',
      '8760',
      '25 2025-11-02T01:00-04:00 2025-11-02T01:00-05:00',
      '2025-11-02',
      '2025-02-28|eu',
      expect.stringMatching(/^PARTITION_INVALID: "2025-02-30" does not exist: 2025-02 has the days 01 to 28/),
      expect.stringMatching(/^PARTITION_INVALID: "2024-12-31" is before the first partition/),
    ])
    expect(code).toBe(0)
  })

  test.each(['report', 'mail'])('examples/testing/%s.test.mjs passes', async (name) => {
    const { code, output } = await runExample(`examples/testing/${name}.test.mjs`, { options: ['--test'] })
    expect(output).toContain('# fail 0')
    expect(code).toBe(0)
  })
})
