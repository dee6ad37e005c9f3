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
  t0,
  troubled,
  Work,
  type Cast,
} from '../../../test/fixtures/engine-stage.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'

describe('a lease', () => {
  it('G4: the runs of a dead worker are taken over once, shortly after its lease', async () => {
    const stage = new Stage()
    const work = new Work()
    const cast: Cast = { jobs: { work: work.handler }, concurrency: 5 }
    const dead = await stage.process(cast)
    const [id] = await enqueue(stage, ['a'])
    const others = [await stage.process(cast), await stage.process(cast)]
    dead.kill()
    await stage.pass(30 * second)
    expect(work.begun).toHaveLength(1)
    await stage.pass(5 * second)
    expect(work.begun.map((run) => run.attempt)).toEqual([1, 2])
    expect(others.flatMap((process) => process.of('run:lost'))).toMatchObject([{ run: id, state: 'pending' }])
    await work.end(1)
    expect(await endsOf(stage, id)).toEqual(['lost', 'done'])
    await stage.pass(hour)
    expect(work.begun).toHaveLength(2)
  })

  it('G5: a worker with an expired lease stops everything and takes a new id; its late result is refused', async () => {
    const stage = new Stage()
    const zombie = new Work({ heedsSignal: false })
    const work = new Work()
    const slow = await stage.process({ jobs: { work: zombie.handler } })
    const [id] = await enqueue(stage, ['a'])
    const first = slow.engine.workerId
    await stage.process({ jobs: { work: work.handler } })
    // Its clock stands still, as for a suspended process; the others continue.
    const row = stage.tables.workers.get(first ?? '')
    if (row !== undefined) row.leaseUntil = t0 - 1
    await stage.pass(6 * second)
    expect(zombie.begun[0]?.signal.aborted).toBe(true)
    expect(slow.of('worker:expired')).toEqual([{ worker: first }])
    expect(slow.engine.workerId).not.toBe(first)
    expect(slow.engine.isReady).toBe(true)
    const taker = [...zombie.begun.slice(1), ...work.begun]
    expect(taker.map((run) => run.attempt)).toEqual([2])
    await zombie.end(0, { value: 'too late' })
    expect(await runOf(stage, id)).toMatchObject({ result: undefined, crashes: 0 })
    expect(await endsOf(stage, id)).toEqual(['released', undefined])
  })

  it('a renewal that was late makes the worker look for runs, which it could not claim meanwhile', async () => {
    const stage = new Stage()
    const work = new Work()
    const state = { isFull: false }
    // Nothing tells of commits, so that only renewals and the slow poll, every 30 s, make it look.
    const store = changed(stage.store, {
      stamp: async () => 1,
      watch: () => () => undefined,
      heartbeat: async (beat) => {
        if (state.isFull) throw new RotaError('STORE_FULL', 'full')
        return await stage.store.heartbeat(beat)
      },
    })
    await stage.process({ jobs: { work: work.handler }, store })
    await stage.pass(11 * second)
    state.isFull = true
    await stage.pass(34 * second)
    await enqueue(stage, ['a'])
    await stage.pass(second)
    expect(work.begun).toHaveLength(0)
    state.isFull = false
    await stage.pass(second)
    expect(work.begun).toHaveLength(1)
  })

  it.each([1, 2])(
    'G4: a run that loses its store again and again does not count as a crash of %i live processes',
    async (count) => {
      const stage = new Stage()
      const work = new Work()
      const { store, state: away } = troubled(stage.store)
      const cast: Cast = { jobs: { work: work.handler }, store, leaseMs: 5 * second }
      for (let i = 0; i < count; i++) await stage.process(cast)
      const [id] = await enqueue(stage, ['long'])
      for (let outage = 1; outage <= 4; outage++) {
        expect(work.begun).toHaveLength(outage)
        away.error = new Error('away')
        await stage.pass(9 * second)
        away.error = undefined
        await stage.pass(20 * second)
      }
      expect(await runOf(stage, id)).toMatchObject({ state: 'running', attempt: 5, crashes: 0 })
      await work.end(4)
      expect(await endsOf(stage, id)).toEqual([...Array.from({ length: 4 }, () => 'released'), 'done'])
    },
  )

  it('a worker that cannot renew gives up at four fifths of its lease, even if the store never answers', async () => {
    const stage = new Stage()
    const work = new Work()
    const hanging = changed(stage.store, { heartbeat: () => new Promise(() => undefined) })
    const process = await stage.process({ jobs: { work: work.handler }, store: hanging })
    await enqueue(stage, ['a'])
    await stage.pass(24 * second - 1)
    expect(work.begun[0]?.signal.aborted).toBe(false)
    await stage.pass(1)
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(process.of('worker:expired')).toHaveLength(1)
  })

  it('a lease is not counted from an answer that came late', async () => {
    const stage = new Stage()
    let slow = false
    const store = changed(stage.store, {
      heartbeat: async (request) => {
        if (slow) await stage.clock.sleep(20 * second)
        slow = true
        return await stage.store.heartbeat(request)
      },
    })
    const work = new Work()
    await stage.process({ jobs: { work: work.handler }, store })
    await enqueue(stage, ['a'])
    // A renewal at 10 s is answered; the one at 20 s is answered after the lease would have expired.
    await stage.pass(34 * second)
    expect(work.begun[0]?.signal.aborted).toBe(true)
  })

  it('a run that kills its worker three times is quarantined; retry makes it pending again', async () => {
    const stage = new Stage()
    const work = new Work()
    const cast: Cast = { jobs: { work: work.handler } }
    const [id = ''] = await enqueue(stage, ['a'])
    for (let i = 0; i < 3; i++) {
      const process = await stage.process(cast)
      await stage.pass(second)
      expect(work.begun).toHaveLength(i + 1)
      process.kill()
      const upkeep = await stage.process({ jobs: {} })
      await stage.pass(36 * second)
      await upkeep.engine.stop({ graceMs: 0 })
    }
    expect(await runOf(stage, id)).toMatchObject({
      state: 'failed',
      reason: 'quarantined',
      crashes: 3,
      failures: 0,
    })
    await stage.process(cast)
    await stage.store.retry({ run: id, now: stage.clock.now() })
    await settle()
    await work.end(3, { value: 'alive' })
    expect(await runOf(stage, id)).toMatchObject({ state: 'done', attempt: 4, result: 'alive' })
  })

  it('if the heartbeat always fails, workers are replaced at most once a second', async () => {
    const stage = new Stage()
    const { store, calls } = troubled(stage.store)
    const process = await stage.process({
      jobs: {},
      store: changed(store, { heartbeat: () => Promise.resolve('expired' as const) }),
      leaseMs: 3,
    })
    await stage.pass(10 * second)
    expect(process.of('worker:expired').length).toBeLessThanOrEqual(11)
    expect(calls.get('register')).toBeLessThanOrEqual(12)
  })
})

describe('a result that was not stored when its worker gave up', () => {
  it('is resubmitted until the store is back; the run is not repeated', async () => {
    const { stage, process, work, ids, away } = await cutOff(['a', 'b'])
    await work.end(0, { value: 'kept' })
    await stage.pass(24 * second)
    expect(work.begun[1]?.signal.aborted).toBe(true)
    expect(await runOf(stage, ids[0])).toMatchObject({ state: 'running' })
    await stage.pass(4 * second)
    away.error = undefined
    await stage.pass(1 * second)
    expect(await runOf(stage, ids[0])).toMatchObject({ state: 'done', result: 'kept' })
    expect(process.of('run:ended')).toMatchObject([
      { run: ids[0], attempt: 1, end: 'done' },
      { run: ids[1], attempt: 1, end: 'released' },
    ])
    await stage.pass(hour)
    expect(work.begun.map((run) => [run.payload, run.attempt])).toEqual([
      ['a', 1],
      ['b', 1],
      ['b', 2],
    ])
  })

  it('is resubmitted even after the lease has expired: it is stored if no worker has taken over', async () => {
    const { stage, process, work, ids, away } = await cutOff(['a', 'b'])
    await work.end(0, { value: 'late' })
    await stage.pass(60 * second)
    expect(process.of('worker:expired')).toHaveLength(1)
    away.error = undefined
    await stage.pass(10 * second)
    expect(await runOf(stage, ids[0])).toMatchObject({ state: 'done', attempt: 1, result: 'late' })
    expect(work.begun.map((run) => [run.payload, run.attempt])).toEqual([
      ['a', 1],
      ['b', 1],
      ['b', 2],
    ])
    await work.end(2)
    expect(await endsOf(stage, ids[1])).toEqual(['released', 'done'])
  })

  it('is offered also where the turn that was to hand it in fails only then', async () => {
    const stage = new Stage()
    const work = new Work()
    let fail: (() => void) | undefined
    const store = changed(stage.store, {
      heartbeat: () => Promise.reject(new Error('away')),
      turn: async (turn) => {
        const isHeld = turn.finished.length > 0 && fail === undefined
        if (isHeld) await new Promise((_, reject) => (fail = () => reject(new Error('away'))))
        return await stage.store.turn(turn)
      },
    })
    const process = await stage.process({ jobs: { work: work.handler }, store })
    const [id] = await enqueue(stage, ['a'])
    await work.end(0, { value: 'kept' })
    await stage.pass(25 * second)
    expect(process.of('worker:expired')).toHaveLength(1)
    expect(await runOf(stage, id)).toMatchObject({ state: 'running' })
    fail?.()
    await stage.pass(second)
    expect(await runOf(stage, id)).toMatchObject({ state: 'done', result: 'kept' })
    expect(process.of('run:ended')).toHaveLength(1)
  })

  it('claims that a running turn still returns are released, not begun', async () => {
    const stage = new Stage()
    const work = new Work()
    let answer: (() => void) | undefined
    const store = changed(stage.store, {
      heartbeat: () => Promise.reject(new Error('away')),
      turn: async (turn) => {
        const answered = await stage.store.turn(turn)
        const isHeld = answered.claims.length > 0 && answer === undefined
        if (isHeld) await new Promise<void>((resolve) => (answer = resolve))
        return answered
      },
    })
    await stage.process({ jobs: { work: work.handler }, store })
    const [id] = await enqueue(stage, ['a'])
    await stage.pass(25 * second)
    answer?.()
    await stage.pass(second)
    expect(await endsOf(stage, id)).toEqual(['released', undefined])
    expect(work.begun.map((run) => run.attempt)).toEqual([2])
  })

  it('is submitted once if the store refuses it', async () => {
    const { stage, process, work, ids, away, offers } = await cutOff(['a'])
    await work.end(0, { value: 'refused' })
    await stage.pass(25 * second)
    // The clock of the others is ahead: for them the lease has expired.
    const row = stage.tables.workers.get('worker-1')
    if (row !== undefined) row.leaseUntil = t0 - 1
    const other = await stage.process({ jobs: {} })
    expect(other.of('run:lost')).toHaveLength(1)
    const offered = offers.length
    away.error = undefined
    await stage.pass(5 * second)
    expect(offers).toHaveLength(offered + 1)
    expect(process.of('run:refused')).toMatchObject([{ run: ids[0], attempt: 1 }])
    expect(process.of('run:ended')).toEqual([])
  })

  it('is not resubmitted to a closed store', async () => {
    const { stage, process, work, away, offers } = await cutOff(['a'])
    await work.end(0)
    await stage.pass(25 * second)
    away.error = new RotaError('STORE_CLOSED', 'closed')
    await stage.pass(second)
    const offered = offers.length
    expect(offered).toBeGreaterThan(0)
    expect(process.of('fatal').length).toBeGreaterThan(0)
    await stage.pass(5 * second)
    expect(offers).toHaveLength(offered)
  })

  it('delays a stop, but not longer than five seconds', async () => {
    for (const isBack of [true, false]) {
      const { stage, process, work, ids, away } = await cutOff(['a'])
      await work.end(0, { value: 'kept' })
      await stage.pass(25 * second)
      const stopping = stopped(process.engine.stop({ graceMs: 30 * second }))
      await stage.pass(2 * second)
      expect(stopping.isOver).toBe(false)
      if (isBack) away.error = undefined
      await stage.pass(3 * second)
      expect(stopping.isOver).toBe(true)
      expect((await runOf(stage, ids[0])).state).toBe(isBack ? 'done' : 'running')
      expect(process.of('fatal')).toEqual([])
    }
  })

  it('is submitted before the worker retires if the engine stops', async () => {
    const { stage, process, work, ids, away } = await cutOff(['a', 'b'])
    await work.end(0, { value: 'kept' })
    await stage.pass(20 * second)
    const stopping = stopped(process.engine.stop({ graceMs: hour }))
    await stage.pass(6 * second)
    expect(work.begun[1]?.signal.aborted).toBe(true)
    expect(stopping.isOver).toBe(false)
    away.error = undefined
    await stage.pass(second)
    expect(stopping.isOver).toBe(true)
    expect(await runOf(stage, ids[0])).toMatchObject({ state: 'done', result: 'kept' })
    expect(await stage.store.workers()).toEqual([])
  })
})

/** A process that performs runs and then cannot reach its store; records what its first worker submits. */
async function cutOff(labels: readonly string[]) {
  const stage = new Stage()
  const work = new Work()
  const offers: number[] = []
  const { store: reached, state: away } = troubled(stage.store)
  const turn: Store['turn'] = async (request) => {
    if (request.worker === 'worker-1' && request.finished.length > 0) offers.push(request.now)
    return await reached.turn(request)
  }
  const process = await stage.process({
    jobs: { work: work.handler },
    concurrency: labels.length,
    store: changed(reached, { turn }),
  })
  const ids = await enqueue(stage, labels)
  away.error = new Error('away')
  return { stage, process, work, ids, away, offers }
}

function stopped(stopping: Promise<void>): { isOver: boolean } {
  const state = { isOver: false }
  void stopping.then(() => (state.isOver = true))
  return state
}
