import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkExamples, serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { appAt } from '../../../../test/fixtures/app-stage.js'
import { root } from '../../../../test/repository.js'
import { loadConfig } from '../../../formats/config/config-file.js'
import { calendarRoutes } from '../routes.js'

const minute = 60_000
const hour = 60 * minute
/** Friday. */
const friday = Date.parse('2026-01-09T00:00:00Z')

/** The fake clock is fast over hours, not over days, so these tests use a calendar of hours. */
const lunch = { ranges: [{ from: '2026-01-09T01:00', to: '2026-01-09T03:00' }] }

it('a trigger runs outside its excluded times, which are one range, and coverage proves it', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  app.calendars.define('lunch', lunch)
  app.schedule('t', {
    job: 'work',
    every: '10m',
    anchor: new Date(friday),
    calendar: { exclude: 'lunch' },
  })
  await app.start()
  await pass(90 * minute)
  const held = await app.why('t', { from: '2026-01-09T01:00:00Z', until: '2026-01-09T03:10:00Z' })
  expect(held.explanations).toMatchObject([
    { kind: 'excluded', at: new Date('2026-01-09T01:00:00Z'), by: { detail: 'lunch' } },
    { kind: 'excluded', lastAt: new Date('2026-01-09T02:50:00Z'), by: { rule: 'calendar:exclude' } },
    { kind: 'future' },
    { kind: 'future' },
  ])
  await pass(2 * hour)
  const told = await app.why('t', { from: '2026-01-09T01:00:00Z', until: '2026-01-09T02:59:00Z' })
  expect(told.explanations).toMatchObject([
    { kind: 'range', range: { reason: 'calendar', rule: 'calendar:exclude', detail: 'lunch' } },
  ])
  expect((await app.coverage())[0]).toMatchObject({
    due: 21,
    run: 9,
    unexplainedCount: 0,
    unexpectedCount: 0,
    explained: { calendar: 12 },
  })
})

it('a changed calendar closes the version: excluded due times keep their reason, and no cursor moves back', async () => {
  const { app, clock, pass } = appAt(friday + hour)
  app.job('work', () => undefined)
  app.calendars.define('lunch', lunch)
  await app.start()
  const add = (calendar: object) =>
    app.triggers.add(
      { t: { job: 'work', every: '10m', anchor: new Date(friday), ...calendar } },
      { replace: true },
    )
  await add({ calendar: { exclude: 'lunch' } })
  await pass(hour)
  const before = await app.triggers.get('t')
  await add({})
  const after = await app.triggers.get('t')
  expect([before.version, after.version]).toEqual([1, 2])
  expect(after.cursorAt.getTime()).toBe(clock.now())
  await pass(30 * minute)
  expect(await app.runs.list({ trigger: 't' })).toHaveLength(3)
  const [coverage] = await app.coverage()
  expect(coverage).toMatchObject({ due: 9, run: 3, unexplainedCount: 0, explained: { calendar: 6 } })
})

it('blackouts of the app apply to timed and after-finish triggers', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  app.calendars.blackout({ from: '2026-01-09T00:30', to: '2026-01-09T02:00', note: 'works' })
  app.schedule('grid', { job: 'work', every: '10m', anchor: new Date(friday) })
  app.schedule('chain', { job: 'work', every: '10m', after: 'finish' })
  await app.start()
  await pass(111 * minute)
  for (const trigger of ['grid', 'chain']) {
    const runs = await app.runs.list({ trigger, since: new Date(friday + 30 * minute), limit: 100 })
    expect([trigger, runs.length]).toEqual([trigger, 0])
  }
  await pass(hour)
  expect(
    (await app.runs.list({ trigger: 'chain', since: new Date(friday + 2 * hour) })).length,
  ).toBeGreaterThan(2)
  for (const coverage of await app.coverage())
    expect(coverage).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
  const told = await app.why('grid', { from: '2026-01-09T01:00:00Z' })
  expect(told.explanations).toMatchObject([
    { range: { reason: 'blackout', rule: 'blackout', detail: 'works' } },
  ])
})

it('count ends a schedule after this many due times, and a changed policy does not restart the count', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  await app.start()
  await app.triggers.add({ t: { job: 'work', every: '10m', count: 3 } })
  await pass(15 * minute)
  await app.triggers.edit('t', { overlap: 'allow' })
  await pass(hour)
  expect(await app.runs.list({ trigger: 't' })).toHaveLength(3)
  expect((await app.triggers.get('t')).nextAt).toBeUndefined()
})

it('the routes answer their examples, and PATCH keeps or changes the calendar of a trigger', async () => {
  const parts = testApp()
  const { app } = parts
  app.job('greet', () => 'hello')
  app.calendars.define('holidays', { days: ['12-25'], weekdays: 'sun' })
  await app.start({ roles: { worker: false } })
  const calendar = { exclude: ['holidays'] }
  await app.triggers.add({ t: { job: 'greet', cron: '0 9 * * *', timezone: 'Europe/Berlin', calendar } })
  const { ask } = await serveApp(parts)
  await checkExamples(ask, calendarRoutes)
  const shown = (await ask('GET', '/api/v1/calendars')).body
  expect(shown.items).toMatchObject([{ name: 'holidays', excludedBy: ['t'], source: 'code:test' }])
  expect((await ask('GET', '/api/v1/calendars/nothing')).status).toBe(404)
  const patch = (options: object) => ask('PATCH', '/api/v1/triggers/t', { body: { options } })
  const kept = { schedule: { calendar: { exclude: ['holidays'], timezone: 'Europe/Berlin' } } }
  expect((await patch({ cron: '0 10 * * *' })).body).toMatchObject({ trigger: kept })
  const unknown = await patch({ calendar: { exclude: 'holiday' } })
  expect([unknown.status, JSON.stringify(unknown.body)]).toMatchObject([
    422,
    /did you mean holidays/.source && expect.stringContaining('did you mean holidays'),
  ])
  const changed = await patch({ calendar: { include: 'holidays' } })
  expect(changed.body).toMatchObject({
    trigger: { schedule: { calendar: { include: ['holidays'], exclude: [] } } },
  })
})

it('contradicting options are refused with both places, and all faults together', async () => {
  const { app } = appAt(friday)
  app.calendars.define('office', { windows: [{ cron: '0 9 * * 1-5', for: '8h' }] })
  const faultsOf = (options: object): string[] => {
    try {
      app.schedule('t', { job: 'work', cron: '0 9 * * *', ...options })
    } catch (error) {
      return (error as { faults: { path: string; message: string }[] }).faults.map(
        ({ path, message }) => `${path}: ${message}`,
      )
    }
    return []
  }
  expect(faultsOf({ calendar: { include: 'office', exclude: 'office' } })).toEqual([
    'calendar.exclude: office is also in calendar.include',
  ])
  expect(faultsOf({ calendar: { exclude: 'office', onExcluded: 'next-day' } })).toEqual([
    'calendar.onExcluded: next-day needs whole days, and calendar office in calendar has parts of days',
  ])
  expect(
    faultsOf({ calendar: { exclude: 'offfice' }, blackouts: [{ from: '2026-01-01', cron: '0 1 * * *' }] }),
  ).toEqual([
    'blackouts[0]: from and cron cannot be combined',
    'calendar.exclude: no calendar is named "offfice"; did you mean office?',
  ])
})

it('the example reads its calendars, also from an iCalendar file', async () => {
  const loaded = await loadConfig(join(root, 'examples/calendars/rota.config.yaml'), [
    { keys: ['rounds'], load: async () => ({ readSection: () => ({}) }) },
  ])
  expect(loaded).toMatchObject({ kind: 'config', config: { blackouts: { timezone: 'Europe/Berlin' } } })
  const calendars = loaded.kind === 'config' ? loaded.config.calendars : new Map()
  expect([...calendars.keys()]).toEqual(['weekend', 'holidays', 'office'])
  expect(calendars.get('holidays')?.local?.length).toBe(76)
})

it('a blackout of the app applies to triggers that are added, or get other blackouts, at run time', async () => {
  const { app, pass } = appAt(friday)
  app.job('work', () => undefined)
  app.calendars.blackout({ from: '2026-01-09T01:00', to: '2026-01-09T02:00', note: 'works' })
  await app.start()
  const hourly = { job: 'work', cron: '30 * * * *', timezone: 'UTC' }
  await app.triggers.add({ added: hourly, edited: hourly })
  await app.triggers.edit('edited', { blackouts: [{ from: '2026-01-09T02:00', to: '2026-01-09T03:00' }] })
  await pass(4 * hour)
  const hoursOf = async (trigger: string): Promise<number[]> =>
    (await app.runs.list({ trigger })).map(({ dueAt }) => dueAt.getUTCHours()).toSorted((a, b) => a - b)
  expect(await hoursOf('added')).toEqual([0, 2, 3])
  expect(await hoursOf('edited')).toEqual([0, 3])
  expect(await app.calendars.list()).toEqual([])
})

describe('next-day', () => {
  /** Monday, an hour before the time to which Saturday and Sunday are moved. */
  const monday = Date.parse('2026-01-12T08:00:00Z')
  const day = 24 * hour
  const moving = {
    job: 'work',
    cron: '0 9 * * 6',
    timezone: 'UTC',
    calendar: { exclude: 'weekend', onExcluded: 'next-day' },
  } as const

  async function weekly(trigger: object) {
    const stage = appAt(monday)
    const { app } = stage
    app.job('work', () => undefined)
    app.calendars.define('weekend', { weekdays: ['sat', 'sun'] })
    await app.start()
    await app.triggers.add({ t: { ...moving, ...trigger } })
    const dueAts = async () => (await app.runs.list({ trigger: 't' })).map(({ dueAt }) => dueAt.toISOString())
    return { ...stage, dueAts }
  }

  it('moves nothing that was due before the trigger was defined', async () => {
    const { app, pass, dueAts } = await weekly({})
    expect((await app.triggers.get('t')).nextAt).toEqual(new Date('2026-01-19T09:00:00Z'))
    await pass(2 * hour)
    expect(await dueAts()).toEqual([])
    await pass(7 * day)
    expect(await dueAts()).toEqual(['2026-01-19T09:00:00.000Z'])
    expect((await app.coverage())[0]).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
  })

  it('moves no due time that was decided before the option was set, and continues where the trigger already had it', async () => {
    const { app, clock, pass, dueAts } = await weekly({ calendar: { exclude: 'weekend' } })
    await pass(5 * day + 12 * hour)
    expect(new Date(clock.now()).toISOString()).toBe('2026-01-17T20:00:00.000Z')
    const edit = (options: object) => app.triggers.add({ t: { ...moving, ...options } }, { replace: true })
    await edit({})
    await pass(2 * day)
    expect(await dueAts()).toEqual([])
    await pass(5 * day)
    await edit({ payload: 'another' })
    await pass(2 * day)
    expect(await dueAts()).toEqual(['2026-01-26T09:00:00.000Z'])
    expect((await app.coverage())[0]).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
  })

  it('applies in a backfill with the current definition, also before the trigger was defined', async () => {
    const { app } = await weekly({})
    const range = { from: '2025-12-29T00:00:00Z', to: '2026-01-11T23:59:59Z' }
    const { run } = await app.triggers.backfill('t', { ...range, definition: 'current', only: 'all' })
    expect(run.map(({ at }) => at.toISOString())).toEqual([
      '2025-12-29T09:00:00.000Z',
      '2026-01-05T09:00:00.000Z',
    ])
  })
})
