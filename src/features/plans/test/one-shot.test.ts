import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ShiftedClock } from '../../../../test/fixtures/shifted-clock.js'
import { at, Desk, entry, on } from './desk.js'
import { rota, start, tooWide, type Ended } from '../../../../test/cli/rota.js'

/** A step that runs until its worker ends. */
const endless = `steps: [{ run: [node, -e, "console.log('begun'); setInterval(() => process.ppid === 1 && process.exit(), 100)"] }]`

describe('rota schedule and rota work', () => {
  it('Q1, Q7, Q12: move an entry from the plan to done, with one file and the summaries of both', async () => {
    const desk = new Desk([])
    // Entries that are due in the second of a pass also belong to the next pass, so that no second is lost.
    const publishAt: string = JSON.parse((await desk.schedule(['--json'])).stdout).now
    desk.plan([entry(publishAt, ', run_id_prefix: now, params: { topic_seed: tea }'), entry(at(7200))])
    const scheduled = await desk.schedule(['--json', '--look-back', '1h', '--window-minutes', '60'])
    expect(scheduled).toMatchObject({ code: 0, stderr: '' })
    const summary = JSON.parse(scheduled.stdout)
    const jobId: string = summary.enqueued_job_ids[0]
    const name = `${publishAt.replace(/[-:]/g, '')}_${jobId}.json`
    expect(desk.files('pending')).toEqual([name])
    expect(summary).toMatchObject({
      schema_version: 'v1',
      engine: 'scheduler',
      plan_path: 'plan.yaml',
      window_minutes: 60,
      look_back_minutes: 60,
      skipped_entries: [{ code: 'entry_not_due' }],
      dry_run: false,
    })
    const day = desk.artifacts('scheduler').at(-1)
    expect(day).toMatch(/^schedule_summary_\d{8}\.json$/)
    const { passes, ...written } = desk.read(`output/scheduler/artifacts/${day}`)
    expect({ ...written, passes: [] }).toEqual(summary)
    expect(passes).toEqual([{ now: publishAt, dry_run: false, enqueued_job_ids: [] }])
    const worked = await desk.work()
    expect(worked).toMatchObject({ code: 0, stderr: '' })
    expect(worked.stdout).toContain('a draft about tea')
    expect([desk.files('pending'), desk.files('running'), desk.files('done')]).toEqual([[], [], [name]])
    expect(desk.read(`output/worker/artifacts/worker_summary_${jobId}.json`)).toMatchObject({
      schema_version: 'v1',
      engine: 'worker',
      job_id: jobId,
      run_id: expect.stringMatching(new RegExp(`^now_\\d{8}_\\d{4}_${jobId}$`)),
      pipeline_path: 'pipeline.web.yml',
      decision: 'done',
      error: null,
      dry_run: false,
      attempts: 1,
      duration_ms: expect.any(Number),
    })
    const none = await desk.work(['--json'])
    expect(none.code).toBe(0)
    expect(JSON.parse(none.stdout)).toMatchObject({
      job_id: 'none',
      run_id: '',
      pipeline_path: '',
      decision: 'skipped',
      error: { code: 'queue_empty' },
    })
    expect(desk.artifacts('worker')).toContain('worker_summary_none.json')
  })

  it('Q7: performs one run per call, in the order of the files, and none before it is due', async () => {
    const desk = new Desk([])
    for (const seconds of [-20, -90, 3600, -40]) foreign(desk, at(seconds))
    const before = desk.files('pending')
    for (let taken = 1; taken <= 3; taken++) {
      expect((await desk.work()).code).toBe(0)
      expect(desk.files('done')).toEqual(before.slice(0, taken))
    }
    expect((await desk.work(['--json'])).stdout).toContain('queue_empty')
    expect((await desk.work(['--ahead', '30', '--json'])).stdout).toContain('queue_empty')
    expect(desk.files('pending')).toEqual(before.slice(3))
    expect((await desk.work(['--ahead', '90'])).code).toBe(0)
    expect(desk.files('done')).toEqual(before)
  })

  it('Q7: a run that a killed worker left in running is taken back when its lease expires', async () => {
    const desk = new Desk([])
    writeFileSync(join(desk.cwd, 'pipeline.web.yml'), endless)
    const { name } = foreign(desk, at(-5))
    const running = start(['work', '--lease', '8s'], { cwd: desk.cwd, env: on })
    await running.said('begun')
    running.child.kill('SIGKILL')
    await running.ended
    writeFileSync(join(desk.cwd, 'pipeline.web.yml'), 'steps: [{ run: [node, draft.mjs] }]')
    expect(desk.files('running')).toEqual([name])
    const { lease_until: leaseUntil } = desk.read(`data/queue/running/${name}`)
    let last = await desk.work(['--json'])
    expect(JSON.parse(last.stdout)).toMatchObject({ error: { code: 'queue_empty' } })
    await wait(Date.parse(String(leaseUntil)) - Date.now())
    while (JSON.parse(last.stdout).decision === 'skipped') last = await desk.work(['--json'])
    expect(JSON.parse(last.stdout)).toMatchObject({ decision: 'done', attempts: 2 })
    expect(desk.files('done')).toEqual([name])
  }, 90_000)

  it('Q7: after the clock jumped, as when a machine wakes up, a live worker keeps its run', async () => {
    const desk = new Desk([])
    const clock = new ShiftedClock(desk.cwd)
    const env = { ...on, ...clock.env }
    writeFileSync(join(desk.cwd, 'pipeline.web.yml'), endless)
    const { name } = foreign(desk, at(-5))
    const running = start(['work', '--lease', '10m'], { cwd: desk.cwd, env })
    await running.said('begun')
    clock.shift(30 * 60_000)
    // It renews its lease every 200 seconds, and has not done so yet.
    const looked = await desk.work(['--json', '--dry-run'], env)
    expect(JSON.parse(looked.stdout)).toMatchObject({ error: { code: 'queue_empty' } })
    const second = await desk.work(['--json'], env)
    const requeued = await rota(['queue', 'requeue', '--json'], { cwd: desk.cwd, env })
    running.child.kill('SIGTERM')
    await running.ended
    expect(JSON.parse(second.stdout)).toMatchObject({ decision: 'skipped', error: { code: 'queue_empty' } })
    expect(JSON.parse(requeued.stdout)).toEqual({ requeued: 0 })
    expect(desk.read(`data/queue/pending/${name}`)).toMatchObject({ attempts: 1 })
  })

  it('Q1: the engine also performs runs that another program puts into the directory', async () => {
    const desk = new Desk([])
    const running = start(['up', '--store', 'files:data/queue', '--json'], { cwd: desk.cwd })
    await running.said('"event":"up"')
    const { name } = foreign(desk, at(-5))
    await running.said('"run:ended"')
    running.child.kill('SIGTERM')
    await running.ended
    expect(desk.files('done')).toEqual([name])
  })

  it('Q9, Q13: a failed run exits with 1, and file and summary name the step', async () => {
    const desk = new Desk([])
    writeFileSync(
      join(desk.cwd, 'pipeline.web.yml'),
      `steps: [{ id: ok, run: [node, draft.mjs] }, { id: publish, run: [node, -e, "process.exit(1)"] }]`,
    )
    const { name, jobId } = foreign(desk, at(-5))
    const { code, stdout } = await desk.work()
    expect(code).toBe(1)
    expect(stdout).toContain('step publish: exit 1 [orchestrator_failed]')
    const error = { code: 'orchestrator_failed', message: 'step publish: exit 1', step: 'publish' }
    expect(desk.read(`data/queue/failed/${name}`)).toMatchObject({ status: 'failed', last_error: error })
    expect(desk.read(`output/worker/artifacts/worker_summary_${jobId}.json`)).toMatchObject({
      decision: 'failed',
      error,
    })
    rmSync(join(desk.cwd, 'pipeline.web.yml'))
    const gone = foreign(desk, at(-4))
    expect((await desk.work()).code).toBe(1)
    expect(desk.read(`output/worker/artifacts/worker_summary_${gone.jobId}.json`)).toMatchObject({
      error: { code: 'job_invalid' },
    })
  })

  it('Q6, Q7: any number at the same time record each run once and perform it once', async () => {
    const desk = new Desk([entry(at(60)), entry(at(120))])
    for (let second = 1; second <= 4; second++) foreign(desk, at(-second))
    const scheduled = await Promise.all([1, 2, 3].map(() => desk.schedule(['--json'])))
    expect(scheduled.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(scheduled.flatMap(({ stdout }) => JSON.parse(stdout).enqueued_job_ids).length).toBe(2)
    const worked = await Promise.all([1, 2, 3, 4, 5].map(() => desk.work(['--json'])))
    expect(worked.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      worked.map(() => ({ code: 0, stderr: '' })),
    )
    const decisions = worked.map(({ stdout }) => String(JSON.parse(stdout).decision))
    expect(decisions.toSorted()).toEqual(['done', 'done', 'done', 'done', 'skipped'])
    expect(desk.files('done').length).toBe(4)
    expect(desk.files('pending').length).toBe(2)
  })

  it('Q13: a signal releases the run and exits with 128 plus its number', async () => {
    const desk = new Desk([])
    writeFileSync(
      join(desk.cwd, 'pipeline.web.yml'),
      `steps: [{ run: [node, -e, "console.log('begun'); setInterval(() => {}, 1000)"] }]`,
    )
    const { name } = foreign(desk, at(-5))
    const running = start(['work'], { cwd: desk.cwd, env: on })
    await running.said('begun')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(143)
    expect(desk.files('pending')).toEqual([name])
    expect(desk.files('running')).toEqual([])
  })

  it('Q11: a dry run needs no switch, says what it would do, and creates no queue', async () => {
    const desk = new Desk([entry(at(60))])
    const scheduled = await desk.schedule(['--dry-run'], {})
    expect(scheduled).toMatchObject({ code: 0, stderr: '' })
    expect(scheduled.stdout).toMatch(/^would enqueue [0-9a-f]{12}\n1 entry to enqueue/)
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
    const [day = ''] = desk.artifacts('scheduler')
    expect(desk.read(`output/scheduler/artifacts/${day}`)).toMatchObject({
      dry_run: true,
      enqueued_job_ids: [expect.stringMatching(/^[0-9a-f]{12}$/)],
    })
    expect((await desk.work(['--dry-run'], {})).stdout).toBe('nothing is due\n')
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
    await desk.schedule()
    const { name, runId } = foreign(desk, at(-5))
    expect((await desk.work(['--dry-run'], {})).stdout).toBe(`would claim ${runId}\n`)
    expect(desk.files('pending')).toContain(name)
    const listed = JSON.parse((await rota(['queue', 'list', '--json'], { cwd: desk.cwd })).stdout)
    expect(listed.map((item: { runId: string }) => item.runId)).toContain(runId)
  })

  it('Q12: earlier passes of the day are kept, and a summary that cannot be written is only a warning', async () => {
    const desk = new Desk([entry(at(60))])
    for (let pass = 1; pass <= 3; pass++) await desk.schedule()
    const days = desk.artifacts('scheduler').map((day) => desk.read(`output/scheduler/artifacts/${day}`))
    const passes = days.reduce((sum, day) => sum + 1 + (day['passes'] as unknown[]).length, 0)
    expect(passes).toBe(3)
    writeFileSync(join(desk.cwd, 'blocked'), '')
    foreign(desk, at(-5))
    const { code, stderr } = await desk.work(['--output-dir', 'blocked'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^warning: the summary could not be written to --output-dir: /)
    expect(desk.files('done').length).toBe(1)
  })
})

describe('the kill switches', () => {
  it('Q10: with PIPELINE_ENABLED off nothing is read or written, one line says so, and it exits with 0', async () => {
    const desk = new Desk([])
    writeFileSync(join(desk.cwd, 'plan.yaml'), 'not: a plan')
    const env = { ...on, PIPELINE_ENABLED: 'Off' }
    const said = 'PIPELINE_ENABLED is off: nothing was read or written\n'
    expect(await desk.schedule([], env)).toEqual({ code: 0, stdout: '', stderr: said })
    expect(await desk.schedule(['--dry-run'], env)).toEqual({ code: 0, stdout: '', stderr: said })
    expect(await desk.work([], env)).toEqual({ code: 0, stdout: '', stderr: said })
    expect(existsSync(join(desk.cwd, 'output'))).toBe(false)
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
  })

  it('Q10: SCHEDULER_ENABLED and WORKER_ENABLED are off by default: no change, but a summary', async () => {
    const desk = new Desk([entry(at(60))])
    expect(await desk.schedule([], {})).toMatchObject({ code: 0, stdout: '' })
    expect(await desk.work([], { WORKER_ENABLED: 'no' })).toMatchObject({ code: 0, stdout: '' })
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
    const [day = ''] = desk.artifacts('scheduler')
    expect(desk.read(`output/scheduler/artifacts/${day}`)).toMatchObject({
      enqueued_job_ids: [],
      skipped_entries: [{ code: 'scheduler_disabled', message: 'SCHEDULER_ENABLED is off' }],
    })
    expect(desk.read('output/worker/artifacts/worker_summary_none.json')).toMatchObject({
      decision: 'skipped',
      error: { code: 'worker_disabled' },
    })
  })

  it('Q10: any other value exits with 2, and nothing is done', async () => {
    const desk = new Desk([entry(at(60))])
    for (const ended of [
      await desk.schedule([], { SCHEDULER_ENABLED: 'maybe' }),
      await desk.work([], { WORKER_ENABLED: '' }),
    ]) {
      expect(ended.code).toBe(2)
      expect(ended.stderr).toContain('[SWITCH_INVALID]')
    }
    expect(existsSync(join(desk.cwd, 'output'))).toBe(false)
  })
})

describe('what is refused', () => {
  it('Q13: usage errors and faulty plans exit with 2, an unusable queue with 3', async () => {
    const desk = new Desk([entry('2026-02-30T00:00')])
    expect((await rota(['schedule'], { cwd: desk.cwd, env: on })).code).toBe(2)
    const faulty = await desk.schedule()
    expect(faulty.code).toBe(2)
    expect(faulty.stderr).toContain('plan.yaml:3:7: entries[0].publish_at')
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
    expect(existsSync(join(desk.cwd, 'output'))).toBe(false)
    desk.plan([entry(at(60))])
    writeFileSync(join(desk.cwd, 'file'), '')
    expect((await desk.schedule(['--queue-dir', 'file/queue'])).code).toBe(3)
    expect((await desk.work(['--queue-dir', 'file'])).code).toBe(3)
  })
})

describe('rota queue', () => {
  it('Q8: lists all states as a table and as JSON, and unreadable files as invalid', async () => {
    const desk = new Desk([])
    writeFileSync(
      join(desk.cwd, 'broken.yml'),
      `steps: [{ id: publish, run: [node, -e, "process.exit(1)"] }]`,
    )
    foreign(desk, at(-20))
    foreign(desk, at(-10), 'broken.yml')
    foreign(desk, at(3600))
    await desk.work()
    await desk.work()
    writeFileSync(join(desk.cwd, 'data/queue/pending', '20260105T020000Z_torn.json'), '{"schema')
    const list = async (...options: string[]): Promise<Ended> =>
      await rota(['queue', 'list', '--queue-dir', 'data/queue', ...options], { cwd: desk.cwd })
    const rows = JSON.parse((await list('--json')).stdout)
    expect(rows).toMatchObject([
      { state: 'done', pipelinePath: 'pipeline.web.yml', attempts: 1, error: null },
      { state: 'failed', error: { message: 'step publish: exit 1', step: 'publish' } },
      { state: 'pending', attempts: 0 },
      { state: 'invalid', file: 'pending/20260105T020000Z_torn.json', error: { message: 'it is not JSON' } },
    ])
    const table = await list()
    expect(table).toMatchObject({ code: 0, stderr: '' })
    expect(tooWide(table.stdout)).toEqual([])
    expect(table.stdout).toMatch(/^STATE +SCHEDULED FOR +JOB ID +RUN ID +PIPELINE +TRIES +ERROR\n/)
    expect(JSON.parse((await list('--state', 'failed', '--json')).stdout).length).toBe(1)
    const failed = rows[1].jobId
    const show = await rota(['queue', 'show', failed], { cwd: desk.cwd })
    expect(show.stdout).toContain('step publish: exit 1 [orchestrator_failed]')
    const retry = await rota(['queue', 'retry', failed], { cwd: desk.cwd })
    expect(retry).toMatchObject({ code: 0, stdout: `${rows[1].runId} is pending again\n` })
    expect(JSON.parse((await list('--state', 'pending', '--json')).stdout).length).toBe(2)
    const purge = await rota(['queue', 'purge', '--older-than', '0s'], { cwd: desk.cwd })
    expect(purge).toMatchObject({ code: 0, stdout: 'removed 1 run\n' })
    expect(desk.files('done')).toEqual([])
    const requeue = await rota(['queue', 'requeue', '--json'], { cwd: desk.cwd })
    expect(JSON.parse(requeue.stdout)).toEqual({ requeued: 0 })
  })

  it.each(['purge', 'requeue', 'retry x'])(
    'Q8: %s without a queue ends with 3 and says so as JSON',
    async (action) => {
      const { code, stdout, stderr } = await rota(['queue', ...action.split(' '), '--json'])
      expect([code, stdout]).toEqual([3, ''])
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: 'STORE_NOT_FOUND',
          message: 'there is no queue in data/queue',
          faults: [],
          todo: expect.any(String) as string,
        },
      })
    },
  )

  it('Q8: lists nothing for a directory that is not a queue, and creates none', async () => {
    const desk = new Desk([])
    const { code, stdout } = await rota(['queue', 'list'], { cwd: desk.cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'no runs\n' })
    expect((await rota(['queue', 'requeue'], { cwd: desk.cwd })).code).toBe(3)
    expect((await rota(['queue', 'show'], { cwd: desk.cwd })).code).toBe(2)
    expect((await rota(['queue', 'lst'], { cwd: desk.cwd })).code).toBe(2)
    expect(existsSync(join(desk.cwd, 'data'))).toBe(false)
  })
})

let made = 0

/** Puts a run into pending as another program does. */
function foreign(desk: Desk, publishAt: string, pipelinePath = 'pipeline.web.yml') {
  made += 1
  const jobId = made.toString(16).padStart(12, '0')
  const runId = `other_${jobId}`
  const name = `${publishAt.replace(/[-:]/g, '')}_${jobId}.json`
  const file = {
    schema_version: 'v1',
    job_id: jobId,
    scheduled_for: publishAt,
    pipeline_path: pipelinePath,
    run_id: runId,
  }
  const folder = join(desk.cwd, 'data/queue/pending')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), JSON.stringify(file))
  return { name, jobId, runId }
}
