import { describe, expect, it } from 'vitest'
import { appAt, type AppStage } from '../fixtures/app-stage.js'

const start = Date.parse('2026-03-01T00:00:00Z')
const hour = 3_600_000
const day = 24 * hour

/** An app that was down from the second to the fifth of March; its trigger missed the due times of these days. */
async function stage(options: object = {}, jobOptions: object = {}): Promise<AppStage & { made: string[] }> {
  const made: string[] = []
  const stage = appAt(start, { concurrency: 4 })
  const { app } = stage
  app.job('report', (run) => void made.push(run.dueAt.toISOString()), jobOptions)
  await app.start({ roles: { worker: true, scheduler: true } })
  await app.triggers.add({ nightly: { job: 'report', cron: '0 2 * * *', timezone: 'UTC', ...options } })
  return { ...stage, made }
}

/** Pauses the trigger for some days, so that their runs are missing. */
async function miss({ app, pass }: AppStage, days: number): Promise<void> {
  await app.triggers.pause('nightly', { reason: 'away' })
  await pass(days * day)
  await app.triggers.resume('nightly')
  await pass(1000)
}

const march = { from: '2026-03-01T00:00:00Z', to: '2026-03-31T00:00:00Z' }

describe('a backfill of a trigger', () => {
  it('is first a plan with an id: what runs, what does not and why; nothing starts and no cursor moves', async () => {
    const world = await stage({ blackouts: [{ from: '2026-03-05T00:00:00Z', to: '2026-03-06T00:00:00Z' }] })
    const { app, pass, made } = world
    await pass(day)
    await miss(world, 4)
    await pass(day)
    const before = await app.triggers.list()
    const { backfill, run, skip } = await app.triggers.backfill('nightly', { ...march, reason: 'a test' })
    expect(run.map(({ at }) => at.toISOString())).toEqual([
      '2026-03-02T02:00:00.000Z',
      '2026-03-03T02:00:00.000Z',
      '2026-03-04T02:00:00.000Z',
    ])
    expect(skip.map(({ reason, count }) => [reason, count])).toEqual([
      ['not-defined', 0],
      ['done', 1],
      ['blackout', 1],
      ['done', 1],
      ['not-planned', 0],
    ])
    expect(backfill).toMatchObject({
      id: expect.stringMatching(/^bf-[0-9a-f]{8}$/) as string,
      trigger: 'nightly',
      asset: null,
      state: 'planned',
      total: 3,
      reason: 'a test',
      skipped: { done: 2, blackout: 1 },
    })
    await pass(day)
    expect(made).toHaveLength(3)
    expect(await app.triggers.list()).toMatchObject([{ version: before[0]?.version }])
    expect((await app.triggers.backfill('nightly', { ...march, dryRun: true })).backfill).toBeUndefined()
    expect(await app.backfills.list()).toHaveLength(1)
  })

  it('runs each due time once however often it is started, in its order, and why shows it', async () => {
    const world = await stage()
    const { app, pass, made } = world
    await pass(day)
    await miss(world, 4)
    const options = { ...march, order: 'newest-first', concurrency: 1 } as const
    const { backfill } = await app.triggers.backfill('nightly', options)
    const id = backfill?.id ?? ''
    const [first, second] = await Promise.all([app.backfills.start(id), app.backfills.start(id)])
    expect([first.state, second.state]).toEqual(['started', 'started'])
    expect(await app.backfills.start(id)).toMatchObject({ state: 'started', started: 4 })
    await pass(60_000)
    expect(made.slice(1).map((at) => at.slice(8, 10))).toEqual(['05', '04', '03', '02'])
    expect(await app.backfills.get(id)).toMatchObject({ done: 4, failed: 0, left: 0 })
    const why = await app.why('nightly', { from: '2026-03-03T02:00:00Z' })
    expect(why.explanations).toMatchObject([{ kind: 'range', range: { reason: 'paused' } }])
    expect(why.beside).toMatchObject([{ origin: 'backfill', labels: { backfill: id }, state: 'done' }])
    expect((await app.coverage({ trigger: 'nightly' }))[0]).toMatchObject({
      unexplainedCount: 0,
      unexpectedCount: 0,
    })
    // Due times that a backfill has run count as done.
    expect((await app.triggers.backfill('nightly', march)).backfill).toBeUndefined()
    expect(
      (await app.triggers.backfill('nightly', { ...march, only: 'all', dryRun: true })).run,
    ).toHaveLength(5)
  })

  it('runs under the version that was in force at that time', async () => {
    const world = await stage({ payload: { v: 1 } })
    const { app, pass } = world
    await miss(world, 2)
    await app.triggers.edit('nightly', { payload: { v: 2 }, cron: '0 3 * * *' })
    await miss(world, 2)
    const plan = await app.triggers.backfill('nightly', { ...march, start: true })
    expect(plan.run.map(({ at, version }) => [at.toISOString().slice(8, 13), version])).toEqual([
      ['01T02', 1],
      ['02T02', 1],
      ['03T03', 2],
      ['04T03', 2],
    ])
    await pass(1000)
    const runs = await app.runs.list({ trigger: 'nightly', origin: 'backfill' })
    expect(runs.map(({ payload }) => payload)).toEqual([{ v: 2 }, { v: 2 }, { v: 1 }, { v: 1 }])
    const long = { from: '2026-02-20T00:00:00Z', to: '2026-02-25T00:00:00Z' }
    expect((await app.triggers.backfill('nightly', long)).skip).toMatchObject([{ reason: 'not-defined' }])
    const now = await app.triggers.backfill('nightly', { ...long, definition: 'current', dryRun: true })
    expect(now.run.map(({ at }) => at.toISOString().slice(11, 13))).toEqual(['03', '03', '03', '03', '03'])
  })

  it('keeps its pace and its concurrency, and runs that are due now go first', async () => {
    const world = await stage({ overlap: 'skip' })
    const { app, pass, made } = world
    await miss(world, 10)
    await app.triggers.backfill('nightly', { ...march, pace: '1/1h', start: true })
    await pass(hour + 1000)
    expect(made).toHaveLength(2)
    await pass(2 * hour)
    // The run that is due now, at 02:00, is neither skipped nor late.
    expect(made.filter((at) => at === '2026-03-11T02:00:00.000Z')).toHaveLength(1)
    expect((await app.why('nightly', { from: '2026-03-11T02:00:00Z' })).explanations).toMatchObject([
      { kind: 'run' },
    ])
    await pass(20 * hour)
    expect(made).toHaveLength(11)
  })

  it('is stopped by a cancel: waiting runs end, running ones are asked to stop, and none begins later', async () => {
    let stopped = 0
    const world = appAt(start, { concurrency: 4 })
    const { app, pass } = world
    let begun = 0
    app.job('report', async (run) => {
      begun += 1
      await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
      stopped += 1
    })
    await app.start()
    await app.triggers.add({ nightly: { job: 'report', cron: '0 2 * * *', overlap: 'allow' } })
    await miss(world, 9)
    const { backfill } = await app.triggers.backfill('nightly', { ...march, concurrency: 2, start: true })
    await pass(1000)
    expect(begun).toBe(2)
    const id = backfill?.id ?? ''
    expect(await app.backfills.cancel(id)).toMatchObject({ state: 'cancelled', cancelledRuns: 9 })
    await pass(60_000)
    expect([begun, stopped]).toEqual([2, 2])
    expect(await app.runs.list({ trigger: 'nightly', state: ['pending', 'running'] })).toEqual([])
    await expect(app.backfills.start(id)).rejects.toMatchObject({ code: 'BACKFILL_STATE' })
    // Cancelled due times can be planned again.
    const again = await app.triggers.backfill('nightly', {
      ...march,
      only: 'missing-or-failed',
      dryRun: true,
    })
    expect(again.run).toHaveLength(9)
  })

  it('says which local times clocks skipped', async () => {
    const { app, pass } = appAt(Date.parse('2026-03-27T00:00:00Z'))
    app.job('report', () => undefined)
    app.schedule('early', { job: 'report', cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: 'skip' })
    await app.start()
    await pass(5 * day)
    const { skip } = await app.triggers.backfill('early', { ...march, dryRun: true })
    expect(skip).toMatchObject([
      { reason: 'not-defined' },
      { reason: 'clock-change', detail: '2026-03-29T02:30:00 does not exist in Europe/Berlin', count: 0 },
      { reason: 'done', count: 3 },
    ])
  })

  it('refuses invalid requests with all faults together', async () => {
    const { app } = await stage()
    const wrong = { from: '2026-03-02', to: '2026-03-01T00:00:00Z', only: 'some', pace: '5', concurrency: 0 }
    await expect(app.triggers.backfill('nightly', wrong as never)).rejects.toThrow(
      /from: .*only: .*concurrency: .*pace: /s,
    )
    const late = { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' }
    await expect(app.triggers.backfill('nightly', late)).rejects.toThrow(
      /to: 2026-03-01T00:00:00Z contradicts `from`/,
    )
    await expect(app.triggers.backfill('nigthly', march)).rejects.toThrow(/did you mean nightly/)
    await app.triggers.add({ chain: { job: 'report', every: '1h', after: 'finish' } })
    await expect(app.triggers.backfill('chain', march)).rejects.toThrow(/chain has no due instants that/)
    await app.triggers.add({ often: { job: 'report', cron: '* * * * * *' } })
    const current = { ...march, definition: 'current' } as const
    await expect(
      app.triggers.backfill('often', {
        ...current,
        to: '2026-02-28T00:00:00Z',
        from: '2026-02-01T00:00:00Z',
      }),
    ).rejects.toThrow(/more than 10000 instants/)
    await expect(app.backfills.get('bf-none')).rejects.toMatchObject({ code: 'BACKFILL_UNKNOWN' })
  })
})
