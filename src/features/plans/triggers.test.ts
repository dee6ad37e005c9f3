import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.js'
import { createApp, type App } from '../../app/rota.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-plans-'))
  write('web.yml', 'steps: [{ id: publish, uses: publish, config: { channel: web } }]')
})

function write(name: string, text: string): void {
  mkdirSync(join(directory, name, '..'), { recursive: true })
  writeFileSync(join(directory, name), text)
}

/** A plan in UTC with an entry for each time, in its own file. */
function writePlan(name: string, times: readonly string[], extra = ''): void {
  const entries = times.map((at) => `  - { publish_at: "${at}", pipeline_path: web.yml${extra} }`)
  const list = entries.length === 0 ? ' []' : `\n${entries.join('\n')}`
  write(name, `schema_version: v1\ntimezone: UTC\nentries:${list}\n`)
}

interface Published {
  readonly at: string
  readonly params: unknown
}

const monday = Date.UTC(2026, 0, 5)

/** Advances the clock until this many attempts of an app have ended, however long its files take to read. */
function ended(app: App, clock: FakeClock): (count: number) => Promise<void> {
  const runs: string[] = []
  app.on('run:ended', ({ run }) => void runs.push(run))
  return async (count) => {
    while (runs.length < count) await clock.advance(1)
  }
}

/** An app on a store that outlives it, like a file. */
function appOf(options: { clock?: FakeClock; plans?: readonly string[]; published?: Published[] }): App {
  const { clock, plans = ['plan.yaml'], published = [] } = options
  const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:test')
  app.pipelineStep('publish', (step) => {
    published.push({ at: step.dueAt.toISOString().slice(0, 16), params: step.params })
    return step.config
  })
  for (const plan of plans) app.plans.add(plan)
  return app
}

describe('a plan that the engine runs', () => {
  it('Q2: performs each entry once when it is due, with its params and its ids as labels', async () => {
    writePlan('plan.yaml', ['2026-01-05T01:00', '2026-01-05T02:00'], ', params: { n: 1 }')
    const clock = new FakeClock(monday)
    const published: Published[] = []
    const app = appOf({ clock, published })
    const done = ended(app, clock)
    const report = await app.start()
    expect(report?.defined.length).toBe(2)
    await clock.advance(3_600_000)
    await done(1)
    const [run] = await app.runs.list()
    expect(run).toMatchObject({
      job: 'pipeline',
      state: 'done',
      dueAt: monday + 3_600_000,
      result: { pipeline: 'web', steps: { publish: { channel: 'web' } } },
      labels: { run_id_base: '20260105_0100', run_id: expect.stringMatching(/^20260105_0100_[0-9a-f]{12}$/) },
      payload: { pipeline_path: 'web.yml', params: { n: 1 } },
    })
    expect(run?.trigger).toBe(`plan:${run?.labels?.['job_id']}`)
    await clock.advance(3_600_000)
    await done(2)
    expect(published).toEqual([
      { at: '2026-01-05T01:00', params: { n: 1 } },
      { at: '2026-01-05T02:00', params: { n: 1 } },
    ])
    await app.stop({ grace: 0 })
  })

  it('Q4: performs entries that became due in the last day, and records older ones as missed', async () => {
    writePlan('plan.yaml', ['2026-01-03T23:59', '2026-01-04T00:00', '2026-01-04T20:00'])
    const clock = new FakeClock(monday)
    const published: Published[] = []
    const app = appOf({ clock, published })
    const done = ended(app, clock)
    await app.start()
    await done(2)
    await app.stop({ grace: 0 })
    expect(published.map(({ at }) => at).toSorted()).toEqual(['2026-01-04T00:00', '2026-01-04T20:00'])
    const again = appOf({ clock, published })
    await again.start()
    await clock.advance(1000)
    const missed = (await again.triggers.list()).find(
      ({ trigger }) => trigger.labels?.['run_id_base'] === '20260103_2359',
    )
    const why = await again.why(missed?.trigger.name ?? '', { from: new Date(Date.UTC(2026, 0, 3, 23, 59)) })
    await again.stop({ grace: 0 })
    expect(JSON.stringify(why)).toContain('missed')
    expect(published.length).toBe(2)
  })

  it('Q6: performs an entry of two plans once, also when it moves from one to the other', async () => {
    writePlan('a.yaml', ['2026-01-05T01:00', '2026-01-05T02:00'])
    writePlan('b.yaml', ['2026-01-05T01:00'])
    const clock = new FakeClock(monday)
    const published: Published[] = []
    const first = appOf({ clock, published, plans: ['b.yaml', 'a.yaml'] })
    await first.start()
    await first.stop({ grace: 0 })
    writePlan('a.yaml', ['2026-01-05T01:00'])
    writePlan('b.yaml', ['2026-01-05T02:00'])
    const second = appOf({ clock, published, plans: ['b.yaml', 'a.yaml'] })
    const done = ended(second, clock)
    await second.start()
    const sources = (await second.triggers.list()).map(({ source, active }) => [source, active])
    await clock.advance(2 * 3_600_000)
    await done(2)
    await second.stop({ grace: 0 })
    expect(sources).toEqual(
      expect.arrayContaining([
        ['plan:a.yaml', true],
        ['plan:b.yaml', true],
      ]),
    )
    expect(published.map(({ at }) => at)).toEqual(['2026-01-05T01:00', '2026-01-05T02:00'])
  })

  it('Q5: refuses an entry that another plan has with other params', async () => {
    writePlan('a.yaml', ['2026-01-05T01:00'])
    writePlan('b.yaml', ['2026-01-05T01:00'], ', params: { n: 1 }')
    const app = appOf({ clock: new FakeClock(monday), plans: ['a.yaml', 'b.yaml'] })
    await expect(app.start()).rejects.toThrow(
      /^plan:b\.yaml and plan:a\.yaml have 20260105_0100_[0-9a-f]{12} with different params$/,
    )
    await app.close()
  })

  it('Q5: refuses an entry that was enqueued with other params, also from another plan; not one that was missed', async () => {
    const clock = new FakeClock(monday)
    const times = ['2026-01-03T01:00', '2026-01-05T01:00']
    writePlan('plan.yaml', times)
    const first = appOf({ clock })
    const done = ended(first, clock)
    await first.start()
    await clock.advance(3_600_000)
    await done(1)
    await first.stop({ grace: 0 })
    writePlan('plan.yaml', times, ', params: { n: 1 }')
    writePlan('other.yaml', times.slice(1), ', params: { n: 1 }')
    for (const plans of [['plan.yaml'], ['other.yaml']]) {
      const app = appOf({ clock, plans })
      await expect(app.start()).rejects.toMatchObject({
        code: 'DEFINITION_CONFLICT',
        faults: [{ path: expect.stringMatching(/^20260105_0100_/) as unknown }],
      })
      await app.close()
    }
    writePlan('plan.yaml', times.slice(0, 1), ', params: { n: 1 }')
    const third = appOf({ clock })
    await third.start()
    await third.stop({ grace: 0 })
  })

  it('is one plan if its path is written in two ways', async () => {
    writePlan('plan.yaml', ['2026-01-05T01:00'])
    symlinkSync(directory, join(directory, 'link'))
    const app = appOf({ clock: new FakeClock(monday), plans: ['plan.yaml', './plan.yaml', 'link/plan.yaml'] })
    expect((await app.start())?.defined).toHaveLength(1)
    await app.stop({ grace: 0 })
  })

  it('ends an entry that was removed from it, unless another plan has it', async () => {
    writePlan('plan.yaml', ['2026-01-05T01:00'])
    const clock = new FakeClock(monday)
    const published: Published[] = []
    const first = appOf({ clock, published })
    await first.start()
    await first.stop({ grace: 0 })
    writePlan('plan.yaml', [])
    const second = appOf({ clock, published })
    expect((await second.start())?.ended.length).toBe(1)
    await clock.advance(2 * 3_600_000)
    await second.stop({ grace: 0 })
    expect(published).toEqual([])
  })

  it('Q2: with a fault, or with a faulty pipeline, prevents the start of the app, and nothing is written', async () => {
    writePlan('plan.yaml', ['2026-01-05T01:00'])
    write('web.yml', 'steps: [{ uses: gone }, { run: x }]')
    const clock = new FakeClock(monday)
    const app = appOf({ clock })
    await expect(app.start()).rejects.toThrow(
      /web\.yml has a fault:\n {2}web\.yml:1:27: steps\[1\]\.run: "x" is a single string/,
    )
    write('web.yml', 'steps: [{ uses: gone }]')
    await expect(app.start()).rejects.toThrow(
      /web\.yml uses functions that are not registered: steps\[0\]\.uses: no function is registered as gone \(allowed: publish\)/,
    )
    writePlan('plan.yaml', ['2026-02-30T01:00'])
    await expect(app.start()).rejects.toThrow(/plan\.yaml has a fault:\n.*day 30 is not within 1 to 28/)
    expect(await app.triggers.list()).toEqual([])
    expect(await app.jobs.list()).toEqual([])
    await app.close()
  })

  it('uses the job of the app that has the same pipeline file, with its retries', async () => {
    writePlan('plan.yaml', ['2026-01-05T01:00'], ', params: { n: 1 }')
    const clock = new FakeClock(monday)
    const published: Published[] = []
    const app = appOf({ clock, published })
    app.job('web', { pipeline: './web.yml', retry: 3 })
    const done = ended(app, clock)
    await app.start()
    await clock.advance(3_600_000)
    await done(1)
    await app.stop({ grace: 0 })
    expect(published).toEqual([{ at: '2026-01-05T01:00', params: { n: 1 } }])
  })
})

describe('a job that is a pipeline file', () => {
  const output = (): string => readFileSync(join(directory, 'out.txt'), 'utf8')

  it('Q9: reads the file when a run starts, so that edits count', async () => {
    const app = appOf({ plans: [] })
    app.job('web', { pipeline: 'web.yml' })
    await app.start()
    const before = await app.runs.wait((await app.enqueue('web')).id)
    write('web.yml', 'name: edited\nsteps: [{ uses: publish }]')
    const after = await app.runs.wait((await app.enqueue('web')).id)
    rmSync(join(directory, 'web.yml'))
    const gone = await app.runs.wait((await app.enqueue('web')).id)
    await app.stop({ grace: 0 })
    expect([before, after].map((run) => run.result)).toMatchObject([
      { pipeline: 'web' },
      { pipeline: 'edited' },
    ])
    expect(gone.error).toMatchObject({ code: 'PIPELINE_INVALID' })
  })

  it.each([
    [true, 'a b '],
    [false, 'a b a b '],
  ])('Q9: with resume %s a retry leaves %j behind', async (resume, expected) => {
    const append = (word: string): string =>
      JSON.stringify([process.execPath, '-e', `require("fs").appendFileSync("out.txt", "${word} ")`])
    write(
      'web.yml',
      `resume: ${resume}\nsteps: [{ id: a, run: ${append('a')} }, { id: b, run: ${append('b')} }, { id: c, uses: flaky }]`,
    )
    const app = createApp({ store: 'memory:', directory }, 'code:test')
    let calls = 0
    const results: unknown[] = []
    app.pipelineStep('flaky', (step) => {
      results.push(step.results)
      if (++calls === 1) throw new Error('not yet')
    })
    app.job('web', { pipeline: 'web.yml', retry: { attempts: 2, delay: 0 } })
    await app.start()
    const run = await app.runs.wait((await app.enqueue('web')).id)
    const attempts = await app.runs.attempts(run.id)
    await app.stop()
    expect(run.state).toBe('done')
    expect(attempts[0]?.error).toMatchObject({ message: 'step c: not yet', details: { step: 'c' } })
    expect(output()).toBe(expected)
    expect(results[1]).toEqual(results[0])
  })

  it.each(['../outside.yml', '/etc/hosts', 'a|b'])('Q2: refuses %s from a payload', async (path) => {
    const app = appOf({ plans: [] })
    writePlan('plan.yaml', [])
    app.plans.add('plan.yaml')
    await app.start()
    const { id } = await app.enqueue('pipeline', { pipeline_path: path, params: {} })
    const run = await app.runs.wait(id)
    await app.stop({ grace: 0 })
    expect(run.error).toMatchObject({ code: 'PIPELINE_INVALID', message: expect.stringContaining(path) })
  })
})
