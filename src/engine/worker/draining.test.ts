import { describe, expect, it } from 'vitest'
import { enqueue, minute, second, Stage, t0, Work } from '../../../test/fixtures/engine-stage.js'

describe('a process that drains', () => {
  it('claims nothing more, emits an event with its next heartbeat, and is drained when its last run ends', async () => {
    const { stage, process, work, drain } = await busy()
    await drain(true)
    await enqueue(stage, ['late'])
    await stage.pass(10 * second)
    expect(process.of('worker:draining')).toEqual([{ worker: 'worker-1', running: 2 }])
    expect(process.engine.isReady).toBe(false)
    await work.end(0)
    await stage.pass(minute)
    expect(process.of('worker:drained')).toEqual([])
    await work.end(1)
    await stage.pass(second)
    expect(process.of('worker:drained')).toEqual([{ worker: 'worker-1' }])
    expect((await stage.runs()).map(({ state }) => state)).toEqual(['done', 'done', 'pending'])
    expect(work.begun).toHaveLength(2)
  })

  it('is drained only when the result of its last run is stored', async () => {
    const { stage, process, work, drain } = await busy()
    await drain(true)
    await stage.pass(10 * second)
    const { store } = stage
    const turn = store.turn.bind(store)
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => (answer = resolve))
    store.turn = async (request) => {
      const given = await turn(request)
      await answered
      return given
    }
    await work.end(0)
    await work.end(1)
    await stage.pass(second)
    expect(process.of('worker:drained')).toEqual([])
    answer()
    await stage.pass(second)
    expect(process.of('worker:drained')).toEqual([{ worker: 'worker-1' }])
  })

  it('claims nothing from the request on, even before it knows about it', async () => {
    const { stage, work, drain } = await busy()
    await drain(true)
    await enqueue(stage, ['late'])
    await stage.pass(3 * second)
    expect(work.begun).toHaveLength(2)
  })

  it('leaves its runs to other workers', async () => {
    const { stage, drain } = await busy()
    await drain(true)
    const other = new Work()
    await stage.process({ jobs: { work: other.handler } })
    await enqueue(stage, ['late'])
    await stage.pass(3 * second)
    expect(other.begun.map(({ payload }) => payload)).toEqual(['late'])
  })

  it('plans nothing, and goes on where it was when it may work again', async () => {
    const stage = new Stage()
    const triggers = { often: { every: '1m', catchUp: 'all', overlap: 'queue-all' } } as const
    const process = await stage.process({ jobs: { work: () => undefined }, triggers })
    await stage.pass(90 * second)
    await stage.store.drain({ worker: 'worker-1', isDraining: true })
    await stage.pass(5 * minute)
    expect(process.of('worker:drained')).toHaveLength(1)
    expect(await stage.runs('often')).toHaveLength(1)
    await stage.store.drain({ worker: 'worker-1', isDraining: false })
    await stage.pass(11 * second)
    expect(process.of('worker:undrained')).toEqual([{ worker: 'worker-1' }])
    expect(process.engine.isReady).toBe(true)
    const states = (await stage.runs('often')).map(({ state }) => state)
    expect(states).toEqual(['done', 'done', 'done', 'done', 'done', 'done'])
  })

  it('is not drained if draining is cancelled before its last run ends', async () => {
    const { stage, process, work, drain } = await busy()
    await drain(true)
    await stage.pass(10 * second)
    await drain(false)
    await stage.pass(10 * second)
    await enqueue(stage, ['late'])
    await work.endAll()
    await stage.pass(3 * second)
    expect(process.of('worker:drained')).toEqual([])
    expect(work.begun).toHaveLength(3)
  })

  it('keeps draining under its new id after it lost its lease', async () => {
    const { stage, process, drain } = await busy()
    await drain(true)
    await stage.pass(10 * second)
    await stage.store.expire({ now: t0 + 9 * minute, deadline: t0 + 9 * minute, limit: 9 })
    await stage.pass(20 * second)
    expect(process.of('worker:expired')).toEqual([{ worker: 'worker-1' }])
    expect(await stage.store.workers()).toMatchObject([{ id: 'worker-2', isDraining: true }])
    await stage.store.drain({ worker: 'worker-2', isDraining: false })
    await stage.pass(11 * second)
    expect(process.of('worker:undrained')).toEqual([{ worker: 'worker-2' }])
  })

  it('drains under its new id if it lost its lease before it knew about the drain', async () => {
    const { stage, process } = await busy()
    await stage.store.drain({ worker: 'worker-1', isDraining: true })
    await stage.store.expire({ now: t0 + 9 * minute, deadline: t0 + 9 * minute, limit: 9 })
    await stage.pass(40 * second)
    expect(process.of('worker:expired')).toEqual([{ worker: 'worker-1' }])
    expect(await stage.store.workers()).toMatchObject([{ id: 'worker-2', isDraining: true }])
    expect(process.of('worker:draining')).toEqual([{ worker: 'worker-2', running: 0 }])
  })

  it('releases the remaining runs when it is stopped before they ended', async () => {
    const { stage, process, drain } = await busy()
    await drain(true)
    await stage.pass(10 * second)
    const stopping = process.engine.stop({ graceMs: second })
    await stage.pass(20 * second)
    await stopping
    expect((await stage.runs()).map(({ state }) => state)).toEqual(['pending', 'pending'])
    expect(await stage.store.workers()).toEqual([])
  })
})

describe('what the store knows about a process', () => {
  it('includes its roles and slots, also for a process that only plans', async () => {
    const stage = new Stage()
    await stage.process({ concurrency: 4 })
    const planner = await stage.process({ source: 'code:other', roles: { worker: false } })
    await stage.process({ source: 'code:idle', roles: { scheduler: false, worker: false } })
    await stage.pass(minute)
    const known = await stage.store.workers()
    expect(known).toMatchObject([
      { id: 'worker-1', roles: ['scheduler', 'worker'], slots: 4, lastBeatAt: t0 + minute },
      { id: 'worker-2', roles: ['scheduler'], slots: 0, lastBeatAt: t0 + minute },
    ])
    expect(known).toHaveLength(2)
    await planner.engine.stop({ graceMs: 0 })
    expect(await stage.store.workers()).toHaveLength(1)
  })
})

/** A process that performs two runs which end when the test says so. */
async function busy() {
  const stage = new Stage()
  const work = new Work()
  const process = await stage.process({ jobs: { work: work.handler } })
  await enqueue(stage, ['1', '2'])
  await stage.pass(second)
  expect(work.begun).toHaveLength(2)
  const drain = (isDraining: boolean) => stage.store.drain({ worker: 'worker-1', isDraining })
  return { stage, process, work, drain }
}
