import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { rota } from '../../app/rota.js'
import { jobDefaults } from '../../kernel/job/job.js'
import { FakeClock } from '../../testing/fake-clock.js'
import type { Notice } from '../framework/print/notice.js'
import { loadUpFeatures } from '../host/up-features.js'
import { tellEvents } from './notice.js'
import { toJson } from '../framework/print/json.js'
import { TimeText } from '../framework/print/time-text.js'

const t0 = Date.UTC(2026, 0, 5, 8, 59)

const words = async () => (await loadUpFeatures()).notices

async function told() {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock, retention: '1m' })
  app.job('works', () => 'well')
  app.job('fails', () => Promise.reject(new Error('no luck')))
  app.schedule('nine', { cron: '0 9 * * *', job: 'works' })
  app.schedule('paused', { cron: '0 9 * * *', job: 'works' })
  const notices: Notice[] = []
  tellEvents(
    app,
    { times: () => new TimeText({ zone: 'UTC', now: clock.now() }), notices: await words() },
    (notice) => notices.push(notice),
  )
  await app.start()
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  /** What was told while something happened, as programs get it. */
  const during = async (act: () => Promise<unknown>): Promise<Readonly<Record<string, unknown>>[]> => {
    notices.length = 0
    await act().catch(() => undefined)
    await settle()
    return notices.map(({ event, level, data }) => ({ event, level, ...(toJson(data) as object) }))
  }
  return { app, clock, during }
}

describe('N10: every operation gives one structured line', () => {
  it('for what is asked of the app, with its outcome, also where it fails', async () => {
    const { app, during } = await told()
    const jobs = { ping: { command: ['true'] } }
    const add = () => app.triggers.add({ pings: { every: '1h', job: 'ping' } }, { jobs })
    expect(await during(add)).toEqual([
      { event: 'operation', level: 'info', operation: 'add', target: 'ping, pings', outcome: 'added' },
    ])
    expect(await during(add)).toEqual([
      expect.objectContaining({
        operation: 'add',
        outcome: 'failed',
        code: 'DEFINITION_CONFLICT',
        level: 'warn',
      }),
    ])
    expect(await during(() => app.triggers.remove('pings'))).toEqual([
      expect.objectContaining({ operation: 'remove', target: 'pings', outcome: 'trigger removed' }),
    ])
    expect(await during(() => app.triggers.pause('paused'))).toEqual([
      expect.objectContaining({ operation: 'hold', target: 'trigger:paused', outcome: 'held' }),
    ])
    expect(await during(() => app.triggers.pause('paused'))).toEqual([
      expect.objectContaining({ operation: 'hold', outcome: 'already held' }),
    ])
    expect(await during(() => app.freeze())).toEqual([
      expect.objectContaining({ operation: 'hold', target: 'all', outcome: 'held' }),
    ])
    expect(await during(() => app.thaw())).toEqual([
      expect.objectContaining({ operation: 'release', target: 'all', outcome: 'released' }),
    ])
  })

  it('for command jobs: added, removed, cleaned up', async () => {
    const { app, during } = await told()
    const job = {
      id: 'job_1',
      type: 'recurring',
      schedule: '0 9 * * *',
      command: 'works',
      userId: 'u',
    } as const
    expect(await during(() => app.commands.add(job))).toEqual([
      expect.objectContaining({ operation: 'add job', target: 'job_1', outcome: 'added', job: 'job_1' }),
    ])
    expect(await during(() => app.commands.remove('job_1'))).toEqual([
      expect.objectContaining({ operation: 'remove job', target: 'job_1', outcome: 'removed' }),
    ])
    expect(await during(() => app.commands.remove('job_2'))).toEqual([
      expect.objectContaining({ operation: 'remove job', outcome: 'failed', code: 'JOB_UNKNOWN' }),
    ])
    for (const run of [
      () => app.commands.runNow('job_1'),
      () => app.commands.runNow('job_2'),
      () => app.jobs.runNow('job_3'),
    ]) {
      expect(await during(run)).toEqual([
        expect.objectContaining({ level: 'warn', operation: 'run', outcome: 'failed', code: 'JOB_UNKNOWN' }),
      ])
    }
    expect(await during(() => app.commands.cleanup())).toEqual([
      expect.objectContaining({ operation: 'clean up jobs', outcome: 'removed', count: 0 }),
    ])
  })

  it('for definitions that come and go, whoever defines them', async () => {
    const { app, clock, during } = await told()
    const store = await app.store()
    const job = { ...jobDefaults, name: 'other' }
    const lines = await during(async () => {
      // As another process would.
      await store.defineJobs({ source: 'config:other', jobs: [job], queues: [], now: clock.now() })
      await app.triggers.add(
        { pings: { every: '1h', job: 'ping' } },
        { jobs: { ping: { command: ['true'] } } },
      )
      await clock.advance(10_000, settle)
    })
    expect(lines.filter(({ event }) => event === 'definitions')).toEqual([
      expect.objectContaining({ level: 'info', source: 'api', defined: ['trigger pings', 'job ping'] }),
      expect.objectContaining({ source: 'config:other', defined: ['job other'], changed: [], ended: [] }),
    ])
    const gone = await during(async () => {
      await app.triggers.remove('pings')
      await clock.advance(10_000, settle)
    })
    expect(gone).toContainEqual(
      expect.objectContaining({ event: 'definitions', source: 'api', ended: ['trigger pings'], count: 1 }),
    )
  })

  it('for a tick, a claim and a finish, with the ids', async () => {
    const { app, clock, during } = await told()
    const lines = await during(() => clock.advance(61_000, settle))
    const [run] = await app.runs.list({ trigger: 'nine' })
    const nine = lines.filter((line) => line['trigger'] === 'nine')
    const dueAt = '2026-01-05T09:00:00Z'
    const taskId = `cron_nine_${Date.parse(dueAt)}`
    expect(nine).toEqual([
      expect.objectContaining({ event: 'tick', level: 'debug', count: 1, runs: [{ run: run?.id, dueAt }] }),
      expect.objectContaining({
        event: 'run:started',
        run: run?.id,
        taskId,
        job: 'works',
        attempt: 1,
        dueAt,
      }),
      expect.objectContaining({
        event: 'run:ended',
        run: run?.id,
        taskId,
        end: 'done',
        state: 'done',
        error: null,
      }),
    ])
  })

  it('for a run of a round with the service that it is, and for any other with its trigger or job', async () => {
    const clock = new FakeClock(t0)
    const app = rota({ store: 'memory:', clock })
    app.job('crawl', (run) => run.log('crawls'))
    app.rounds.define('crawlers', { every: '1h', services: ['crawl'] })
    app.schedule('nine', { cron: '0 9 * * *', job: 'crawl' })
    const told: string[] = []
    const times = (): TimeText => new TimeText({ zone: 'UTC', now: clock.now() })
    tellEvents(app, { times, notices: await words() }, ({ event, subject }) => {
      if (event.startsWith('run:')) told.push(`${event} ${subject}`)
    })
    await app.start()
    await clock.advance(61_000, settle)
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
    const all = (subject: string): string[] =>
      ['run:started', 'run:log', 'run:ended'].map((event) => `${event} ${subject}`)
    expect(told.toSorted()).toEqual([...all('crawlers: crawl'), ...all('nine')].toSorted())
  })

  it('N5: for a failure with its error, for runs that are enqueued, cancelled, retried, and pruned', async () => {
    const { app, clock, during } = await told()
    let id = ''
    const failed = await during(async () => ({ id } = await app.enqueue('fails')))
    expect(failed).toEqual([
      expect.objectContaining({ operation: 'enqueue', target: 'fails', outcome: 'enqueued', runs: [id] }),
      expect.objectContaining({ event: 'run:started', run: id }),
      expect.objectContaining({
        event: 'run:ended',
        level: 'error',
        run: id,
        end: 'failed',
        error: expect.objectContaining({ code: 'HANDLER_FAILED', message: 'no luck' }),
      }),
    ])
    expect(await during(() => app.enqueue('nothing'))).toEqual([
      expect.objectContaining({
        operation: 'enqueue',
        target: 'nothing',
        outcome: 'failed',
        code: 'JOB_UNKNOWN',
      }),
    ])
    expect(await during(() => app.runs.retry(id))).toContainEqual(
      expect.objectContaining({ operation: 'retry', target: id, outcome: 'pending' }),
    )
    expect(await during(() => app.runs.cancel(id))).toEqual([
      expect.objectContaining({ operation: 'cancel', target: id, outcome: 'failed', code: 'RUN_STATE' }),
    ])
    const later = await during(() => clock.advance(2 * 3_600_000, settle))
    expect(later).toContainEqual(
      expect.objectContaining({ operation: 'prune', outcome: 'pruned', target: 'runs' }),
    )
  })
})

describe('the log of a round', () => {
  it('R4: says what each check found due and what it skipped, for people and as data', async () => {
    const clock = new FakeClock(t0)
    const app = rota({ store: 'memory:', clock })
    for (const name of ['a', 'daily']) app.job(name, () => undefined)
    app.rounds.define('r', { every: '1h', services: ['a', { job: 'daily', every: '24h' }] })
    const notices: Notice[] = []
    const times = (): TimeText => new TimeText({ zone: 'UTC', now: clock.now() })
    tellEvents(app, { times, notices: await words() }, (notice) => notices.push(notice))
    await app.start()
    onTestFinished(async () => {
      const closing = app.close()
      await clock.advance(20_000, settle)
      await closing
    })
    await clock.advance(3_600_000, settle)
    const checks = notices.filter(({ data }) => data['reason'] === 'checked')
    expect(checks.map(({ text }) => text)).toEqual([
      'check of 08:59:00: due: a, daily',
      'check of 09:59:00: due: a; skipped: daily (not due before 2026-01-06 08:59:00)',
    ])
    expect(toJson(checks[1]?.data)).toMatchObject({
      trigger: 'r',
      due: ['a'],
      skipped: [{ service: 'daily', reason: 'not_due', dueAt: '2026-01-06T08:59:00Z' }],
    })
  })
})
