import { describe, expect, it } from 'vitest'
import {
  changed,
  endsOf,
  enqueue,
  hour,
  runOf,
  second,
  settle,
  Stage,
  total,
  troubled,
  Work,
  Process,
} from '../../../test/fixtures/engine-stage.js'
import { RotaError } from '../../kernel/definition/errors.js'

describe('the end of an engine', () => {
  it('claims nothing more, waits for the grace period, and stores the results of it', async () => {
    const stage = new Stage()
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler }, concurrency: 1 })
    const [first, waiting] = await enqueue(stage, ['a', 'b'])
    let stopped = false
    const stopping = process.engine.stop({ graceMs: 30 * second }).then(() => (stopped = true))
    await stage.pass(10 * second)
    expect(process.engine.isReady).toBe(false)
    expect(stopped).toBe(false)
    await work.end(0, { value: 'just in time' })
    await stopping
    expect(await runOf(stage, first)).toMatchObject({ state: 'done', result: 'just in time' })
    expect(await runOf(stage, waiting)).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await stage.store.workers()).toEqual([])
  })

  it('then aborts and releases the rest, which does not count as a try', async () => {
    const stage = new Stage()
    const work = new Work()
    const job = { handler: work.handler, retry: 1 }
    const process = await stage.process({ jobs: { work: job } })
    const [id] = await enqueue(stage, ['a'])
    const stopping = process.engine.stop({ graceMs: 30 * second })
    await stage.pass(30 * second)
    await stopping
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(await runOf(stage, id)).toMatchObject({ state: 'pending', failures: 0, crashes: 0, attempt: 1 })
    expect(await endsOf(stage, id)).toEqual(['released'])
    await stage.process({ jobs: { work: job } })
    await work.end(1)
    expect(await runOf(stage, id)).toMatchObject({ state: 'done', attempt: 2 })
  })

  it('also releases attempts that ignore their signal, after seven seconds', async () => {
    const stage = new Stage()
    const work = new Work({ heedsSignal: false })
    const process = await stage.process({ jobs: { work: work.handler } })
    const [id] = await enqueue(stage, ['a'])
    const stopping = process.engine.stop({ graceMs: 0 })
    await stage.pass(7 * second)
    await stopping
    expect(await endsOf(stage, id)).toEqual(['released'])
    await work.end(0)
  })

  it('completes even if the store always fails', async () => {
    const stage = new Stage()
    const { store, state } = troubled(stage.store)
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler }, store })
    const [id] = await enqueue(stage, ['a'])
    state.error = new RotaError('STORE_FULL', 'no room')
    await work.end(0)
    const stopping = process.engine.stop({ graceMs: 30 * second })
    await stage.pass(45 * second)
    await stopping
    state.error = undefined
    // Another worker takes over what could not be submitted.
    const other = new Work()
    await stage.process({ jobs: { work: other.handler } })
    await stage.pass(40 * second)
    expect(other.begun.map((run) => [run.id, run.attempt])).toEqual([[id, 2]])
  })

  it('a second call waits for the first', async () => {
    const stage = new Stage()
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler } })
    await enqueue(stage, ['a'])
    const ended: string[] = []
    void process.engine.stop({ graceMs: 30 * second }).then(() => ended.push('first'))
    void process.engine.stop({ graceMs: 0 }).then(() => ended.push('second'))
    await stage.pass(20 * second)
    expect(ended).toEqual([])
    await work.end(0)
    expect(ended).toEqual(['first', 'second'])
  })

  it('during the start: nothing is left running', async () => {
    const stage = new Stage()
    let answer: () => void = () => undefined
    const { store, calls } = troubled(stage.store)
    const slow = changed(store, {
      register: (worker) =>
        new Promise((resolve) => {
          answer = () => resolve(stage.store.register(worker))
        }),
    })
    const process = new Process(stage, { jobs: {}, store: slow }, () => 'late')
    const starting = process.start()
    await settle()
    const stopping = process.engine.stop({ graceMs: 0 })
    answer()
    await Promise.all([starting, stopping])
    expect(await stage.store.workers()).toEqual([])
    calls.clear()
    await stage.pass(hour)
    expect(total(calls)).toBe(0)
  })

  it('while a lost worker is being replaced: nothing is left running and nobody stays registered', async () => {
    const stage = new Stage()
    const { store, calls } = troubled(stage.store)
    let registered = 0
    const process = await stage.process({
      jobs: {},
      store: changed(store, {
        register: async (worker) => {
          registered += 1
          if (registered > 1) throw new RotaError('STORE_BUSY', 'busy')
          await stage.store.register(worker)
        },
      }),
    })
    const row = stage.tables.workers.get(process.engine.workerId ?? '')
    if (row !== undefined) row.isGone = true
    await stage.pass(10 * second)
    expect(registered).toBeGreaterThan(2)
    await process.engine.stop({ graceMs: 0 })
    calls.clear()
    registered = 0
    await stage.pass(hour)
    expect(total(calls) + registered).toBe(0)
    expect(await stage.store.workers()).toEqual([])
  })

  it('is not delayed by the pause after a store error', async () => {
    const stage = new Stage()
    const { store, state } = troubled(stage.store)
    const process = await stage.process({ jobs: {}, store })
    state.error = new RotaError('STORE_BUSY', 'busy')
    await stage.pass(30 * second - 1)
    state.error = undefined
    await process.engine.stop({ graceMs: 0 })
  })

  it('a lease that expires during the grace period still stops the work', async () => {
    const stage = new Stage()
    const work = new Work()
    const failing = changed(stage.store, { heartbeat: () => Promise.reject(new Error('away')) })
    const process = await stage.process({ jobs: { work: work.handler }, store: failing })
    await enqueue(stage, ['a'])
    const stopping = process.engine.stop({ graceMs: hour })
    await stage.pass(24 * second)
    expect(work.begun[0]?.signal.aborted).toBe(true)
    await stopping
  })
})
