import { expect, it } from 'vitest'
import { minute, second, Stage, t0, Work, type Cast } from '../../../test/fixtures/engine-stage.js'
import type { OverlapPolicy } from '../../kernel/trigger/trigger.js'

/** Instants every minute; each run takes until the test ends it. */
async function stageWith(overlap: OverlapPolicy, options: { heedsSignal?: boolean } = {}) {
  const stage = new Stage()
  const work = new Work(options)
  const cast: Cast = { jobs: { work: work.handler }, triggers: { t: { cron: '* * * * *', overlap } } }
  const process = await stage.process(cast)
  await stage.pass(minute)
  expect(work.begun).toHaveLength(1)
  return { stage, work, process, cast }
}

const dueMinutes = (work: Work): number[] => work.begun.map((run) => (run.dueAt.getTime() - t0) / minute)

it('allow: every instant runs, concurrently', async () => {
  const { stage, work } = await stageWith('allow')
  await stage.pass(2 * minute)
  expect(dueMinutes(work)).toEqual([1, 2, 3])
  expect(await stage.ranges('t')).toEqual([])
})

it('skip: an instant that is due during a run is recorded with that run as its blocker', async () => {
  const { stage, work } = await stageWith('skip')
  await stage.pass(2 * minute)
  await work.end(0)
  await stage.pass(minute)
  expect(dueMinutes(work)).toEqual([1, 4])
  const ranges = await stage.ranges('t')
  expect(ranges.map((range) => [range.reason, range.rule, range.blocker])).toEqual([
    ['overlap', 'overlap:skip', work.begun[0]?.id],
    ['overlap', 'overlap:skip', work.begun[0]?.id],
  ])
})

it('queue-one: one run waits, later instants are recorded with it as their blocker', async () => {
  const { stage, work } = await stageWith('queue-one')
  await stage.pass(3 * minute)
  expect(dueMinutes(work)).toEqual([1])
  const [, waiting] = await stage.runs('t')
  await work.end(0)
  expect(dueMinutes(work)).toEqual([1, 2])
  const ranges = await stage.ranges('t')
  expect(ranges.map((range) => [range.firstAt, range.blocker])).toEqual([
    [t0 + 3 * minute, waiting?.id],
    [t0 + 4 * minute, waiting?.id],
  ])
})

it('queue-all: all of them run, one after the other, oldest first', async () => {
  const { stage, work } = await stageWith('queue-all')
  await stage.pass(3 * minute)
  for (const index of [0, 1, 2, 3]) await work.end(index)
  expect(dueMinutes(work)).toEqual([1, 2, 3, 4])
  expect((await stage.runs('t')).map((run) => run.state)).toEqual(['done', 'done', 'done', 'done'])
})

it('cancel-running: the run is aborted, and the new one waits for its end', async () => {
  const { stage, work } = await stageWith('cancel-running', { heedsSignal: false })
  await stage.pass(minute)
  expect(work.begun[0]?.signal.aborted).toBe(true)
  expect(dueMinutes(work)).toEqual([1])
  await work.end(0)
  expect(dueMinutes(work)).toEqual([1, 2])
  const [first, second] = await stage.runs('t')
  expect(first).toMatchObject({ state: 'cancelled', reason: `superseded by ${second?.id}` })
})

it('cancel-running: a waiting run is cancelled immediately', async () => {
  const stage = new Stage()
  const work = new Work({ heedsSignal: false })
  await stage.process({
    jobs: { work: work.handler },
    triggers: { t: { every: '4s', overlap: 'cancel-running' } },
  })
  await stage.pass(12 * second)
  const [, waiting, newest] = await stage.runs('t')
  expect(waiting).toMatchObject({ state: 'cancelled', reason: `superseded by ${newest?.id}`, attempt: 0 })
  await work.end(0)
  expect(work.begun.map((run) => run.id)).toEqual([work.begun[0]?.id, newest?.id])
})

it('terminate-running: the claim is closed immediately, the new run starts, a late result is refused', async () => {
  const { stage, work } = await stageWith('terminate-running', { heedsSignal: false })
  await stage.pass(minute)
  expect(work.begun[0]?.signal.aborted).toBe(true)
  expect(dueMinutes(work)).toEqual([1, 2])
  await work.end(0, { value: 'late' })
  const [first] = await stage.runs('t')
  expect(first).toMatchObject({ state: 'cancelled', result: undefined })
  expect(await stage.store.attempts(first?.id ?? '')).toMatchObject([{ attempt: 1, end: 'cancelled' }])
})

it.each(['skip', 'queue-one', 'queue-all', 'cancel-running'] as const)(
  'G6: with %s no two attempts are held concurrently, despite manual runs, retries and many workers',
  async (overlap) => {
    const stage = new Stage()
    let active = 0
    let most = 0
    const handler = async (): Promise<void> => {
      active += 1
      most = Math.max(most, active)
      await stage.clock.sleep(1700)
      active -= 1
      throw new Error('again')
    }
    const cast: Cast = {
      jobs: { work: { handler, retry: { attempts: 3, delay: '1s', backoff: 'constant', jitter: 0 } } },
      triggers: { t: { cron: '* * * * * *', overlap, catchUp: 'latest' } },
    }
    await stage.process(cast)
    await stage.process(cast)
    const by = { job: 'work', origin: 'manual' as const, trigger: 't', dueAt: t0, runAt: t0, priority: 0 }
    const slots = [{ key: 'trigger:t', limit: 1 }]
    const runs = ['a', 'b'].map((id) => ({ ...by, id: id.repeat(36), slots }))
    await stage.store.enqueue({ runs, now: t0 })
    await stage.pass(30 * second)
    expect(most).toBe(1)
    expect((await stage.runs('t')).filter((run) => run.attempt > 0).length).toBeGreaterThan(3)
  },
)
