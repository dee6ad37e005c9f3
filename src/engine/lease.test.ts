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
} from '../../test/fixtures/engine-stage.js'

describe('a lease', () => {
  it('G4: the runs of a dead worker are taken over once, within the lease and a little more', async () => {
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

  it('G5: a worker that finds itself expired stops everything, takes a new id, and its late answer is refused', async () => {
    const stage = new Stage()
    const zombie = new Work({ heedsSignal: false })
    const work = new Work()
    const slow = await stage.process({ jobs: { work: zombie.handler } })
    const [id] = await enqueue(stage, ['a'])
    const first = slow.engine.workerId
    await stage.process({ jobs: { work: work.handler } })
    // Its clock stands still, as for a process that was suspended; the others go on.
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
    expect((await runOf(stage, id)).result).toBeUndefined()
    expect(await endsOf(stage, id)).toEqual(['lost', undefined])
  })

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
    // Asked at 10 s and answered; asked again at 20 s, which is answered after the lease would be over.
    await stage.pass(34 * second)
    expect(work.begun[0]?.signal.aborted).toBe(true)
  })

  it('what kills its worker three times is set aside; retry revives it', async () => {
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
      reason: 'set-aside',
      crashes: 3,
      failures: 0,
    })
    await stage.process(cast)
    await stage.store.retry({ run: id, now: stage.clock.now() })
    await settle()
    await work.end(3, { value: 'alive' })
    expect(await runOf(stage, id)).toMatchObject({ state: 'done', attempt: 4, result: 'alive' })
  })

  it('what keeps the lease may fail each time: workers follow one another once a second and not faster', async () => {
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
