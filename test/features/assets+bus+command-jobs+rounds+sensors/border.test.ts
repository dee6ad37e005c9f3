import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { settle } from '../../fixtures/engine-stage.js'
import type { Run as StoredRun } from '../../../src/kernel/run/run.js'
import { FakeClock } from '../../../src/testing/fake-clock.js'
import type { Coverage, EngineEvents, Run, StoredTrigger, Why } from '../../../src/app/public-types.js'
import { rota, type Rota } from '../../../src/app/rota.js'

const t0 = Date.UTC(2026, 0, 5)

/** An app with something in every list. */
async function stage(): Promise<{ app: Rota; heard: unknown[]; ids: Record<'done' | 'pending', string> }> {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  const heard: unknown[] = []
  for (const name of ['tick', 'run:started', 'run:ended', 'sensor:polled'] as const)
    app.on(name, (event) => void heard.push(event))
  app.bus.listen((message) => void heard.push(message))
  app.job('work', (run) => run.log('worked'))
  app.schedule('cron', { job: 'work', cron: '* * * * *', start: new Date(t0) })
  app.schedule('once', { job: 'work', at: new Date(t0 + 7_200_000) })
  app.assets.define('days', { partitions: 'daily', materialize: () => undefined })
  app.rounds.define('round', { every: '1m', services: ['work'] })
  app.sensors.define('sensor', {
    job: 'work',
    every: '10s',
    sensor: {
      init: () => ({ kind: 'ok', state: { seenAt: t0 } }),
      poll: (state, { now }) => ({
        kind: 'trigger',
        observations: [{ key: now.toISOString(), partition: 'p' }],
        state,
      }),
    },
  })
  await app.start()
  await app.commands.add({
    id: 'later',
    type: 'oneshot',
    executeAt: new Date(t0 + 3_600_000),
    command: 'work',
  })
  await app.assets.schedule('days', { cron: '0 1 * * *' })
  const done = await app.enqueue('work', { sentAt: t0 })
  const pending = await app.enqueue('work', undefined, { at: new Date(t0 + 3_600_000) })
  await clock.advance(120_000, settle)
  await app.assets.backfill('days', { partitions: ['2026-01-01'] })
  await app.triggers.pause('cron', { until: new Date(t0 + 7_200_000) })
  await app.switches.off('pipeline')
  return { app, heard, ids: { done: done.id, pending: pending.id } }
}

/** All queries, by name. */
async function answers(app: Rota, ids: Record<'done' | 'pending', string>): Promise<Record<string, unknown>> {
  return {
    run: await app.runs.get(ids.done),
    runs: await app.runs.list({ since: new Date(t0), until: new Date(t0 + 60_000) }),
    attempts: await app.runs.attempts(ids.done),
    logs: await app.runs.logs(ids.done),
    waited: await app.runs.wait(ids.done),
    pending: await app.runs.whyPending(ids.pending),
    triggers: await app.triggers.list(),
    jobs: await app.jobs.list(),
    queues: await app.queues.list(),
    switches: await app.switches.list(),
    workers: await app.workers.list(),
    why: await app.why('cron', { from: new Date(t0), until: '2026-01-05T01:00:00Z' }),
    whyNot: await app.why('cron', { from: new Date(t0 + 30_000) }),
    coverage: await app.coverage({ since: new Date(t0) }),
    doctor: await app.doctor(),
    rounds: await app.rounds.list(),
    round: await app.rounds.status('round'),
    sensors: await app.sensors.list(),
    history: await app.sensors.history('sensor'),
    assets: await app.assets.list(),
    schedules: await app.assets.schedules(),
    grid: await app.assets.grid('days'),
    backfills: await app.backfills.list(),
    commands: await app.commands.list(),
    now: app.now(),
  }
}

/** The paths of all numbers that can only be instants, except in payloads and states of users. */
function instantsIn(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return value > Date.UTC(2020) ? [path] : []
  if (typeof value !== 'object' || value === null || value instanceof Date) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'payload' || key === 'state' ? [] : instantsIn(one, `${path}.${key}`),
  )
}

describe('an app', () => {
  it('returns and emits instants only as Dates, and does not change payloads and states', async () => {
    const { app, heard, ids } = await stage()
    const told = await answers(app, ids)
    expect(instantsIn(told)).toEqual([])
    expect(instantsIn(heard)).toEqual([])
    for (const [name, answer] of Object.entries(told)) {
      if (Array.isArray(answer)) expect(answer, name).not.toHaveLength(0)
    }
    expect(heard.length).toBeGreaterThan(10)
    expect(told['run']).toMatchObject({ dueAt: new Date(t0), payload: { sentAt: t0 } })
    expect(told['sensors']).toMatchObject([{ record: { state: { seenAt: t0 } } }])
    expect(told['now']).toEqual(new Date(t0 + 120_000))
    expect(told['runs']).toHaveLength(
      (told['runs'] as Run[]).filter(({ dueAt }) => +dueAt <= t0 + 60_000).length,
    )
  })

  it('refuses options that are not instants, each by name', async () => {
    const { app } = await stage()
    const [wrong, invalid] = [7 as never, new Date(Number.NaN)]
    await expect(app.runs.list({ since: wrong, until: invalid })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'since' }, { path: 'until', message: 'the Date is invalid' }],
    })
    await expect(app.why('cron', { from: wrong })).rejects.toMatchObject({ faults: [{ path: 'from' }, {}] })
    await expect(app.coverage({ since: wrong })).rejects.toMatchObject({ faults: [{ path: 'since' }] })
    await expect(app.freeze({ until: wrong })).rejects.toMatchObject({ faults: [{ path: 'until' }] })
  })

  it('has Dates in its types too', () => {
    type Answer<Method extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Method>>
    expectTypeOf<Answer<Rota['runs']['get']>>().toEqualTypeOf<Run>()
    expectTypeOf<Run['dueAt']>().toEqualTypeOf<Date>()
    expectTypeOf<Run['finishedAt']>().toEqualTypeOf<Date | undefined>()
    expectTypeOf<Run['payload']>().toEqualTypeOf<StoredRun['payload']>()
    expectTypeOf<Answer<Rota['triggers']['list']>>().toEqualTypeOf<readonly StoredTrigger[]>()
    expectTypeOf<Answer<Rota['why']>>().toEqualTypeOf<Why>()
    expectTypeOf<Answer<Rota['coverage']>>().toEqualTypeOf<readonly Coverage[]>()
    expectTypeOf<Answer<Rota['rounds']['status']>['nextCheckAt']>().toEqualTypeOf<Date | null>()
    expectTypeOf<Answer<Rota['backfills']['get']>['createdAt']>().toEqualTypeOf<Date>()
    expectTypeOf<EngineEvents['run:started']['dueAt']>().toEqualTypeOf<Date>()
    expectTypeOf<ReturnType<Rota['now']>>().toEqualTypeOf<Date>()
  })
})
