import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JobOptions } from '../../kernel/job/define-job.js'
import { isFinal } from '../../kernel/run/run.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { createApp, type App } from '../../app/rota.js'
import type { CommandRun } from '../../engine/worker/command-run.js'

const monday = Date.UTC(2026, 0, 5)
const second = 1000
const hour = 3_600_000
const day = 24 * hour

let directory: string
let clock: FakeClock

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-jobs-'))
  clock = new FakeClock(monday)
})

interface Taken {
  readonly at: string
  readonly command: string
  readonly task: string
}

/** An app on a store that outlives it, and the commands that it handled. */
function appOf(
  options: {
    readonly taken?: Taken[]
    readonly take?: (command: CommandRun) => unknown
    readonly retry?: JobOptions['retry']
  } = {},
): App {
  const { taken = [], take, retry } = options
  const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:test')
  app.commands.handle(
    (command) => {
      taken.push({
        at: new Date(clock.now()).toISOString(),
        command: command.command,
        task: command.task.id,
      })
      return take?.(command)
    },
    { retry },
  )
  return app
}

/** Advances the clock until a condition is true, however long file operations take. */
async function until(isTrue: () => boolean | Promise<boolean>, stepMs = 1): Promise<void> {
  while (!(await isTrue())) await clock.advance(stepMs)
}

describe('command jobs', () => {
  it.each([
    ['0 9 * * *', '2026-01-05T09:00:00.000Z'],
    ['0 */6 * * *', '2026-01-05T06:00:00.000Z'],
    ['0 0 1 * *', '2026-02-01T00:00:00.000Z'],
    ['* * * * * *', '2026-01-05T00:00:01.000Z'],
  ])(
    'N1: a recurring job is due by its expression in UTC, the count of fields decides: %s',
    async (schedule, next) => {
      const app = appOf()
      const job = await app.commands.add({
        type: 'recurring',
        schedule,
        command: 'check_status',
        userId: 'user1',
      })
      expect(job).toMatchObject({ type: 'recurring', schedule, state: 'scheduled', nextAt: Date.parse(next) })
      await app.close()
    },
  )

  it('N2: a one-shot starts at its exact millisecond', async () => {
    const taken: Taken[] = []
    const app = appOf({ taken })
    await app.start()
    await app.commands.add({
      id: 'a',
      type: 'oneshot',
      executeAt: new Date(monday + 61_234),
      command: 'remind',
    })
    await clock.advance(61_233)
    expect(taken).toEqual([])
    await until(() => taken.length === 1)
    expect(taken).toEqual([
      { at: '2026-01-05T00:01:01.234Z', command: 'remind', task: `cron_a_${monday + 61_234}` },
    ])
    await app.stop({ grace: 0 })
  })

  it('N2: an overdue one-shot runs immediately after a restart, however old it is', async () => {
    const early = appOf()
    await early.commands.add({
      id: 'old',
      type: 'oneshot',
      executeAt: '2026-01-05T01:00:00Z',
      command: 'remind',
    })
    await early.close()
    clock = new FakeClock(monday + 400 * day)
    const taken: Taken[] = []
    const app = appOf({ taken })
    await app.start({ acceptClock: true })
    await until(() => taken.length === 1)
    expect(taken[0]?.task).toBe(`cron_old_${monday + hour}`)
    await until(async () => (await app.commands.get('old')).state === 'executed')
    await app.stop({ grace: 0 })
  })

  it('many jobs are listed in steps, between which other work continues', async () => {
    const app = appOf()
    const lines = Array.from({ length: 200 }, (_, i) =>
      JSON.stringify({
        id: `many_${i}`,
        type: 'recurring',
        schedule: '0 9 * * *',
        command: 'c',
        user_id: 'u',
      }),
    )
    await app.commands.importText(lines.join('\n'))
    const over = new AbortController()
    let turns = 0
    const count = (): void => {
      turns += 1
      if (!over.signal.aborted) setImmediate(count)
    }
    setImmediate(count)
    expect(await app.commands.list()).toHaveLength(200)
    over.abort()
    expect(turns).toBeGreaterThan(8)
    await app.close()
  })

  it('N3: jobs are added, listed, run now and removed while the engine runs, also by another process', async () => {
    const taken: Taken[] = []
    const app = appOf({ taken })
    await app.start()
    const other = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'api')
    const added = await other.commands.add({
      type: 'recurring',
      schedule: '*/10 * * * * *',
      command: 'check',
      userId: 'u',
    })
    expect(added.id).toMatch(/^job_[0-9a-f]{32}$/)
    expect((await other.commands.list()).map(({ id }) => id)).toEqual([added.id])
    await until(() => taken.length === 1, 100)
    expect(taken[0]?.at).toBe('2026-01-05T00:00:10.000Z')
    await until(async () => (await other.commands.get(added.id)).state === 'completed')
    const { id } = await other.commands.runNow(added.id)
    await until(async () => (await app.runs.get(id)).state === 'done')
    expect((await app.runs.get(id)).labels?.['task_id']).toBe(`cron_${added.id}_${id}`)
    const removed = await other.commands.remove(added.id)
    expect(removed.state).toBe('removed')
    expect(await other.commands.list()).toEqual([])
    const before = taken.length
    await clock.advance(60 * second)
    expect(taken.length).toBe(before)
    await expect(other.commands.remove(added.id)).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(other.commands.get('nobody')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await other.close()
    await app.stop({ grace: 0 })
  })

  it('N3: an id that is taken is a conflict that changes nothing', async () => {
    const app = appOf()
    const job = await app.commands.add({ id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'one' })
    const twice = app.commands.add({ id: 'a', type: 'recurring', schedule: '0 10 * * *', command: 'two' })
    await expect(twice).rejects.toMatchObject({ code: 'DEFINITION_CONFLICT' })
    expect(await app.commands.get('a')).toEqual(job)
    const [one, two] = await Promise.allSettled([
      app.commands.add({ id: 'b', type: 'recurring', schedule: '0 9 * * *', command: 'one' }),
      app.commands.add({ id: 'b', type: 'recurring', schedule: '0 9 * * *', command: 'two' }),
    ])
    expect([one.status, two.status].toSorted()).toEqual(['fulfilled', 'rejected'])
    await app.close()
  })

  it('N3: removing a job lets its running attempt finish and cancels runs that have not started', async () => {
    let finish = (): void => undefined
    const finished = new Promise<string>((resolve) => (finish = () => resolve('ok')))
    const taken: Taken[] = []
    const app = appOf({ taken, take: () => finished })
    await app.start()
    await app.commands.add({ id: 'a', type: 'oneshot', executeAt: new Date(monday), command: 'long' })
    await until(() => taken.length === 1)
    expect((await app.commands.get('a')).state).toBe('executing')
    const waiting = await app.commands.runNow('a')
    await app.commands.remove('a')
    expect(await app.runs.get(waiting.id)).toMatchObject({ state: 'cancelled', reason: 'removed' })
    finish()
    const [first] = await app.runs.list({ trigger: 'a', state: 'running' })
    await until(async () => (await app.runs.get(first?.id ?? '')).state === 'done')
    expect((await app.commands.get('a')).state).toBe('cleaned-up')
    await app.stop({ grace: 0 })
  })

  it('N3: a running attempt that fails after its job was removed is not retried', async () => {
    let fail = (): void => undefined
    const failing = new Promise<string>((_, reject) => (fail = () => reject(new Error('no luck'))))
    const taken: Taken[] = []
    const app = appOf({ taken, take: () => failing, retry: { attempts: 3, delay: 0 } })
    await app.start()
    await app.commands.add({ id: 'a', type: 'oneshot', executeAt: new Date(monday), command: 'long' })
    await until(() => taken.length === 1)
    const [run] = await app.runs.list({ trigger: 'a' })
    await app.commands.remove('a')
    fail()
    await until(async () => isFinal((await app.runs.get(run?.id ?? '')).state))
    expect(taken.length).toBe(1)
    await app.stop({ grace: 0 })
  })

  it('N3: a command goes to the job of its name, else to the command handler, else its run fails with a code', async () => {
    const named: unknown[] = []
    const taken: Taken[] = []
    const bare = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:bare')
    await bare.start()
    const at = new Date(monday)
    await bare.commands.add({ id: 'lost', type: 'oneshot', executeAt: at, command: 'nothing' })
    // It first waits for a subscriber of the bus.
    await until(async () => (await bare.runs.list({ trigger: 'lost' })).length === 1)
    expect((await bare.runs.list({ trigger: 'lost' }))[0]?.state).toBe('pending')
    await clock.advance(10_000)
    await until(async () => (await bare.commands.get('lost')).state === 'executed')
    const [failed] = await bare.runs.list({ trigger: 'lost' })
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'COMMAND_UNKNOWN' } })
    await bare.commands.add({
      id: 'later',
      type: 'oneshot',
      executeAt: new Date(monday + hour),
      command: 'report',
    })
    await bare.commands.add({
      id: 'any',
      type: 'oneshot',
      executeAt: new Date(monday + hour),
      command: 'other',
    })
    await bare.stop({ grace: 0 })
    const app = appOf({ taken })
    app.job('report', (run) => void named.push(run.payload))
    await app.start()
    await clock.advance(hour)
    await until(() => named.length === 1 && taken.length === 1)
    expect(named).toEqual([{ command: 'report', user_id: '', metadata: {} }])
    expect(taken[0]?.command).toBe('other')
    expect((await app.runs.list({ trigger: 'later' }))[0]?.job).toBe('report')
    await app.stop({ grace: 0 })
  })

  it('N5: a task has an id from its due time, a payload and a signal, and its end is an event', async () => {
    const seen: CommandRun[] = []
    const app = appOf({
      take: (command) => {
        seen.push(command)
        throw new Error('no such chat')
      },
    })
    const ends: unknown[] = []
    app.on('run:ended', ({ trigger, error, durationMs }) =>
      ends.push({ trigger, error: error?.message, durationMs }),
    )
    await app.start()
    const executeAt = new Date(monday + 500)
    await app.commands.add({
      id: 'job_7',
      type: 'oneshot',
      executeAt,
      command: 'remind',
      userId: 'user1',
      metadata: { chat: '42' },
    })
    await until(() => ends.length === 1)
    expect(seen[0]).toMatchObject({ command: 'remind', userId: 'user1', metadata: { chat: '42' } })
    expect(seen[0]?.signal).toBeInstanceOf(AbortSignal)
    expect(JSON.stringify(seen[0]?.task)).toBe(
      `{"id":"cron_job_7_${monday + 500}","type":"cron","payload":{"command":"remind","user_id":"user1","metadata":{"chat":"42"}}}`,
    )
    expect(ends).toEqual([{ trigger: 'job_7', error: 'no such chat', durationMs: expect.any(Number) }])
    const [run] = await app.runs.list({ trigger: 'job_7' })
    expect(run?.labels).toEqual({ task_id: `cron_job_7_${monday + 500}` })
    await app.stop({ grace: 0 })
  })

  it('N6: a one-shot is marked as executed after its last attempt, successful or not, and not before', async () => {
    let tries = 0
    const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:test')
    const fail = (): never => {
      tries += 1
      throw new Error('again')
    }
    app.job('flaky', fail, { retry: { attempts: 2, delay: '1m', backoff: 'constant', jitter: 0 } })
    await app.start()
    await app.commands.add({ id: 'a', type: 'oneshot', executeAt: new Date(monday), command: 'flaky' })
    await until(() => tries === 1)
    await until(async () => (await app.runs.list({ trigger: 'a', state: 'pending' })).length === 1)
    expect(await app.commands.get('a')).toMatchObject({ state: 'executing', executed: false })
    await until(() => tries === 2, second)
    await until(async () => (await app.commands.get('a')).executed)
    const [run] = await app.runs.list({ trigger: 'a' })
    const { executedAt, state } = await app.commands.get('a')
    expect(state).toBe('executed')
    expect(executedAt).toBe(run?.finishedAt)
    await app.stop({ grace: 0 })
  })

  it('N6: executed one-shots are cleaned up once a day, across restarts, and on request; other jobs and all history stay', async () => {
    const taken: Taken[] = []
    const first = appOf({ taken })
    await first.start()
    await first.commands.add({ id: 'once', type: 'oneshot', executeAt: new Date(monday), command: 'c' })
    await first.commands.add({
      id: 'future',
      type: 'oneshot',
      executeAt: new Date(monday + 30 * day),
      command: 'c',
    })
    await first.commands.add({ id: 'daily', type: 'recurring', schedule: '0 9 * * *', command: 'c' })
    await until(async () => (await first.commands.get('once')).state === 'executed')
    expect(await first.commands.cleanup({ dryRun: true })).toEqual(['once'])
    await first.stop({ grace: 0 })
    await clock.advance(23.9 * hour)
    const app = appOf({ taken })
    await app.start()
    expect((await app.commands.list()).map(({ id }) => id)).toEqual(['daily', 'future', 'once'])
    await until(async () => (await app.commands.list()).length === 2, 60 * second)
    expect((await app.commands.list()).map(({ id }) => id)).toEqual(['daily', 'future'])
    expect(clock.now() - monday).toBeGreaterThanOrEqual(day)
    expect((await app.commands.get('once')).state).toBe('cleaned-up')
    expect((await app.runs.list({ trigger: 'once' })).length).toBe(1)
    await app.commands.add({ id: 'second', type: 'oneshot', executeAt: new Date(monday), command: 'c' })
    await until(async () => (await app.commands.get('second')).state === 'executed')
    expect(await app.commands.cleanup()).toEqual(['second'])
    await app.stop({ grace: 0 })
  })

  it('N6: a new one-shot under the id of one that was cleaned up is executed again', async () => {
    const taken: Taken[] = []
    const app = appOf({ taken })
    await app.start()
    await app.commands.add({ id: 'a', type: 'oneshot', executeAt: new Date(monday), command: 'one' })
    await until(async () => (await app.commands.get('a')).state === 'executed')
    await app.commands.cleanup()
    await app.commands.add({
      id: 'a',
      type: 'oneshot',
      executeAt: new Date(clock.now() + 5000),
      command: 'two',
    })
    expect(await app.commands.get('a')).toMatchObject({ state: 'scheduled', executed: false })
    await until(() => taken.length === 2)
    expect(taken[1]?.command).toBe('two')
    await app.stop({ grace: 0 })
  })

  it('N7: an invalid expression is refused when it is added, with the position of the fault', async () => {
    const app = appOf()
    const refused = app.commands.add({ type: 'recurring', schedule: '0 25 * * *', command: 'c' })
    await expect(refused).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'schedule', message: expect.stringContaining('at position 2') }],
    })
    await expect(app.commands.add({ type: 'recurring', schedule: '0 9 * *', command: 'c' })).rejects.toThrow(
      /position/,
    )
    expect(await app.commands.list()).toEqual([])
    await app.close()
  })

  it('N3: all faults of a job are reported together and nothing is stored', async () => {
    const app = appOf()
    const refused = app.commands.add({
      type: 'weekly',
      command: '',
      userId: 7,
      metadata: { a: 1 },
      cmd: 'x',
    } as never)
    await expect(refused).rejects.toMatchObject({ faults: { length: 5 } })
    expect(await app.commands.list()).toEqual([])
    await app.close()
  })
})
