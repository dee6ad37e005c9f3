import { describe, expect, it } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { told } from '../../../test/fixtures/told-app.js'
import { jobDefaults } from '../../kernel/job/job.js'

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

  it('for added and removed definitions of any source', async () => {
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
