import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { poolMetrics } from './pool-metrics.js'
import { toTask } from './pool.js'
import { formatTaskResult, type TaskResult } from './results.js'
import type { RunContext } from './perform.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { rota } from '../../app/rota.js'

const t0 = Date.UTC(2026, 0, 5, 8, 59)
const nine = Date.UTC(2026, 0, 5, 9)

function staged() {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  return { app, clock, pass: (ms: number) => clock.advance(ms, settle) }
}

/** Everything that can be read now. */
async function read(stream: AsyncIterableIterator<TaskResult>, count: number): Promise<TaskResult[]> {
  const results: TaskResult[] = []
  for await (const result of stream) {
    results.push(result)
    if (results.length === count) break
  }
  return results
}

describe('the worker pool', () => {
  it('N5: passes a run as a task with an id from the due instant, command, user, metadata and a signal', async () => {
    const { app, pass } = staged()
    let task: ReturnType<typeof toTask> | undefined
    app.job('check_status', (run: RunContext) => {
      task = toTask(run)
      return 'all well'
    })
    const payload = { command: 'check_status', user_id: 'user1', metadata: { room: 'a' } }
    app.schedule('job_123', { cron: '0 9 * * *', job: 'check_status', payload })
    await app.start()
    const results = app.pool.results()
    await pass(61_000)
    expect(task).toEqual({
      id: `cron_job_123_${nine}`,
      type: 'cron',
      payload,
      signal: expect.any(AbortSignal),
    })
    const [result] = await read(results, 1)
    expect(result).toMatchObject({
      taskId: `cron_job_123_${nine}`,
      job: 'check_status',
      error: null,
      output: 'all well',
      missed: 0,
    })
    expect(formatTaskResult({ ...(result as TaskResult), durationMs: 2143 })).toBe(
      '{"task_id":"cron_job_123_1767603600000","error":null,"output":"all well","duration_ms":2143}',
    )
  })

  it('N5: streams the end of every attempt with its error; drops and counts results for a slow reader', async () => {
    const { app, pass } = staged()
    app.job('flaky', () => Promise.reject(new Error('no luck')), { retry: { attempts: 2, delay: 0 } })
    app.job('plain', () => undefined)
    await app.start()
    const fast = app.pool.results()
    const slow = app.pool.results({ buffer: 2 })
    await app.enqueue('flaky')
    await pass(1000)
    for (let i = 0; i < 3; i++) await app.enqueue('plain')
    await pass(1000)
    const all = await read(fast, 5)
    expect(all.map(({ job, attempt, end }) => `${job} ${attempt} ${end}`)).toEqual([
      'flaky 1 failed',
      'flaky 2 failed',
      'plain 1 done',
      'plain 1 done',
      'plain 1 done',
    ])
    expect(all[0]?.error).toMatchObject({ code: 'HANDLER_FAILED', message: 'no luck' })
    expect((await read(slow, 2)).map(({ job, missed }) => ({ job, missed }))).toEqual([
      { job: 'plain', missed: 3 },
      { job: 'plain', missed: 0 },
    ])
  })

  it('N5: ends the stream with the app, after the waiting results', async () => {
    const { app, clock, pass } = staged()
    app.job('plain', () => undefined)
    await app.start()
    const results = app.pool.results()
    await app.enqueue('plain')
    await pass(0)
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
    expect((await read(results, 9)).map(({ job }) => job)).toEqual(['plain'])
    expect(await app.pool.results().next()).toEqual({ done: true, value: undefined })
  })

  it('N5: a stream whose signal is already aborted has ended', async () => {
    const { app } = staged()
    expect(await app.pool.results({ signal: AbortSignal.abort() }).next()).toEqual({
      done: true,
      value: undefined,
    })
  })

  it('N11: counts started, completed and failed attempts separately, and their total duration', async () => {
    const { app, clock, pass } = staged()
    app.job('works', () => clock.sleep(1500))
    app.job('fails', () => Promise.reject(new Error('no luck')), { retry: { attempts: 3, delay: 0 } })
    app.job('slow', ({ signal }) => clock.sleep(60_000, signal), { timeout: '2s' })
    await app.start()
    for (const job of ['works', 'fails', 'slow']) await app.enqueue(job)
    await pass(5000)
    const counters = app.pool.counters()
    expect(counters).toEqual({ submitted: 5, completed: 1, failed: 4, totalDurationMs: 3500 })
    expect(poolMetrics(counters)).toBe(
      [
        '# HELP rota_pool_tasks_submitted_total Attempts that this process has begun.',
        '# TYPE rota_pool_tasks_submitted_total counter',
        'rota_pool_tasks_submitted_total 5',
        '# HELP rota_pool_tasks_completed_total Attempts that were done.',
        '# TYPE rota_pool_tasks_completed_total counter',
        'rota_pool_tasks_completed_total 1',
        '# HELP rota_pool_tasks_failed_total Attempts that failed, timed out or were cancelled.',
        '# TYPE rota_pool_tasks_failed_total counter',
        'rota_pool_tasks_failed_total 4',
        '# HELP rota_pool_duration_seconds_total How long all attempts took together.',
        '# TYPE rota_pool_duration_seconds_total counter',
        'rota_pool_duration_seconds_total 3.5',
        '',
      ].join('\n'),
    )
  })
})
