import { describe, expect, it } from 'vitest'
import {
  day,
  enqueue,
  hour,
  minute,
  second,
  Stage,
  t0,
  Work,
  type Process,
} from '../../../test/fixtures/engine-stage.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { ClockGuard } from './clock-guard.js'
import { isComplete } from '../../kernel/ledger/coverage.js'
import { coverageOf } from '../explain/coverage.js'
import { reclaimLost } from '../upkeep/reclaim-lost.js'
import { timedKinds as kinds } from '../timed/kinds.js'

function guarded(options: { highestAt?: number; acceptClock?: boolean; upMs?: number } = {}) {
  const clock = new FakeClock(t0, { upMs: options.upMs ?? 0 })
  const { highestAt = 0, acceptClock = false } = options
  return { clock, guard: new ClockGuard(clock, { highestAt, acceptClock }) }
}

async function running() {
  const stage = new Stage()
  const process = await stage.process({
    jobs: { work: () => undefined },
    triggers: { t: { cron: '* * * * *' } },
  })
  await stage.pass(10 * minute)
  const minutes = async (): Promise<number[]> =>
    (await stage.runs('t')).map((run) => Math.round((run.dueAt - t0) / minute))
  const expectComplete = async (): Promise<void> => {
    const coverage = await coverageOf(stage.store, await stage.trigger('t'), { kinds })
    expect(coverage !== undefined && isComplete(coverage), JSON.stringify(coverage)).toBe(true)
  }
  return { stage, process, minutes, expectComplete }
}

describe('a clock that is set back', () => {
  it('plans nothing until it has caught up, reports the difference, and then loses and repeats nothing', async () => {
    const { stage, process, minutes, expectComplete } = await running()
    stage.clock.step(-5 * minute)
    await stage.pass(5 * minute - second)
    expect(await minutes()).toHaveLength(10)
    const told = process.of('clock')
    expect(told[0]).toMatchObject({ kind: 'behind' })
    expect(told[0]?.byMs).toBeGreaterThan(4.9 * minute)
    // Every ten seconds, not with every look.
    expect(told.length).toBeLessThanOrEqual(32)
    await stage.pass(2 * minute)
    expect(await minutes()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    await expectComplete()
  })

  it('by up to two seconds is not reported', async () => {
    const { stage, process, minutes } = await running()
    stage.clock.step(-2 * second)
    await stage.pass(2 * minute)
    expect(process.of('clock')).toEqual([])
    expect(await minutes()).toHaveLength(11)
  })

  it('never returns an earlier now than before', () => {
    const { clock, guard } = guarded()
    const before = guard.now()
    clock.step(-hour)
    expect(guard.now()).toBe(before)
  })

  it('costs no live worker its lease', async () => {
    const { stage, process } = await running()
    const other = await stage.process({ jobs: {} })
    const ids = [process.engine.workerId, other.engine.workerId]
    stage.clock.step(-hour)
    await stage.pass(2 * hour)
    expect([process.engine.workerId, other.engine.workerId]).toEqual(ids)
  })
})

describe('a clock that jumps ahead', () => {
  it('by twenty minutes is an outage: missed instants go through catch-up', async () => {
    const { stage, process, minutes, expectComplete } = await running()
    stage.clock.step(20 * minute + 30 * second)
    await stage.pass(2 * second)
    expect(await minutes()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30])
    expect(process.of('clock')).toEqual([])
    expect(await stage.ranges('t')).toMatchObject([{ reason: 'collapsed', firstAt: t0 + 11 * minute }])
    await expectComplete()
  })

  it('by three hours waits for two readings, ten seconds apart, that agree', async () => {
    const { stage, process, minutes, expectComplete } = await running()
    stage.clock.step(3 * hour)
    await stage.pass(9 * second)
    expect(process.of('clock')[0]).toMatchObject({ kind: 'unsure', byMs: 3 * hour })
    expect(await minutes()).toHaveLength(10)
    await stage.pass(3 * second)
    expect((await minutes()).at(-1)).toBe(190)
    await expectComplete()
  })

  it('and back again within ten seconds has no effect', async () => {
    const { stage, minutes, expectComplete } = await running()
    stage.clock.step(3 * hour)
    await stage.pass(7 * second)
    stage.clock.step(-3 * hour)
    await stage.pass(minute)
    expect(await minutes()).toHaveLength(11)
    expect((await stage.store.health({ now: 0 })).highestAt).toBeLessThan(t0 + hour)
    await expectComplete()
  })

  it('by more than a year needs confirmation by a person', async () => {
    const { stage, process, minutes } = await running()
    stage.clock.step(400 * day)
    await stage.pass(10 * minute)
    expect(process.of('clock').every(({ kind }) => kind === 'refused')).toBe(true)
    expect(await minutes()).toHaveLength(10)
    expect((await stage.store.health({ now: 0 })).highestAt).toBeLessThan(t0 + hour)
  })

  it.each([
    { jump: '20 minutes', jumpMs: 20 * minute, leases: [30 * second, 30 * second] },
    { jump: '3 hours', jumpMs: 3 * hour, leases: [30 * second, 30 * second] },
    { jump: '3 hours', jumpMs: 3 * hour, leases: [second, second] },
    { jump: '20 minutes', jumpMs: 20 * minute, leases: [second, 30 * second] },
    { jump: '3 hours', jumpMs: 3 * hour, leases: [second, 30 * second] },
    { jump: '3 hours', jumpMs: 3 * hour, leases: [30 * second, second] },
  ])('by $jump costs no live worker its lease, with leases of $leases ms', async ({ jumpMs, leases }) => {
    const stage = new Stage()
    const processes: Process[] = []
    for (const leaseMs of leases) processes.push(await stage.process({ jobs: {}, leaseMs }))
    await stage.pass(7 * second)
    const ids = processes.map(({ engine }) => engine.workerId)
    stage.clock.step(jumpMs)
    await stage.pass(2 * minute)
    expect(processes.map(({ engine }) => engine.workerId)).toEqual(ids)
    expect((await stage.store.health({ now: 0 })).highestAt).toBeGreaterThan(t0 + jumpMs)
  })

  it.each([20 * minute, 3 * hour])(
    'is steady again only after the new time is accepted (%i ms)',
    async (jumpMs) => {
      const { clock, guard } = guarded()
      expect(guard.steadyMs()).toBe(Infinity)
      clock.step(jumpMs)
      const acceptedAt: number[] = []
      guard.onAccepted((at) => acceptedAt.push(at))
      while (guard.now() < t0 + jumpMs) {
        expect(guard.steadyMs()).toBe(Infinity)
        await clock.advance(second)
      }
      expect(guard.steadyMs()).toBe(0)
      await clock.advance(3 * second)
      expect(guard.steadyMs()).toBe(3 * second)
      expect(acceptedAt).toEqual(jumpMs > hour ? [t0 + jumpMs + 10 * second] : [])
    },
  )

  it('delays the takeover from a worker that died by no more than its lease', async () => {
    const stage = new Stage()
    const work = new Work()
    const dead = await stage.process({ jobs: { work: work.handler }, leaseMs: 5 * second })
    await enqueue(stage, ['a'])
    await stage.process({ jobs: { work: work.handler }, leaseMs: 30 * second })
    dead.kill()
    stage.clock.step(20 * minute)
    await stage.pass(15 * second)
    expect(work.begun.map(({ attempt }) => attempt)).toEqual([1, 2])
  })
})

describe('at the start', () => {
  it('a store that was unused for less than the uptime of the system is not doubted', () => {
    const { guard } = guarded({ highestAt: t0 - 5 * day, upMs: 5 * day })
    expect(guard.read()).toMatchObject({ kind: 'ok', now: t0 })
  })

  it('an unexplained difference is doubted, also for the now of the worker', () => {
    const { clock, guard } = guarded({ highestAt: t0 - 5 * day })
    expect(guard.now()).toBe(t0 - 5 * day)
    expect(guard.read()).toMatchObject({ kind: 'unsure', byMs: 5 * day })
    expect(clock.now()).toBe(t0)
  })

  it('is confirmed after ten seconds', async () => {
    const { clock, guard } = guarded({ highestAt: t0 - 5 * day })
    const doubts: string[] = []
    const confirmed = guard.confirmed(({ kind }) => doubts.push(kind), new AbortController().signal)
    await clock.advance(10 * second)
    await confirmed
    expect(doubts).toEqual(['unsure'])
    expect(guard.now()).toBe(t0 + 10 * second)
  })

  it('more than a year is refused unless it is accepted', async () => {
    const { signal } = new AbortController()
    const { guard } = guarded({ highestAt: t0 - 500 * day })
    await expect(guard.confirmed(() => undefined, signal)).rejects.toMatchObject({ code: 'CLOCK_JUMP' })
    const accepted = guarded({ highestAt: t0 - 500 * day, acceptClock: true })
    const confirmed = accepted.guard.confirmed(() => undefined, signal)
    await accepted.clock.advance(10 * second)
    await confirmed
    expect(accepted.guard.now()).toBe(t0 + 10 * second)
  })

  it('a new store is never doubted', () => {
    expect(guarded().guard.read()).toEqual({ kind: 'ok', now: t0 })
  })
})

describe('a process that has just started', () => {
  const open = (stage: Stage, history: 'kept' | 'read' = 'kept', clock = stage.clock) =>
    ClockGuard.open(stage.store, clock, { acceptClock: false, history })

  it('knows from earlier processes how long the clock of its machine was steady', async () => {
    const stage = new Stage()
    expect((await open(stage, 'read')).steadyMs()).toBe(0)
    await stage.pass(minute)
    expect((await open(stage)).steadyMs()).toBe(0)
    await stage.pass(minute)
    expect((await open(stage)).steadyMs()).toBe(minute)
    stage.clock.step(second)
    expect((await open(stage)).steadyMs()).toBe(minute)
    // The machine wakes up.
    stage.clock.step(20 * minute)
    expect((await open(stage, 'read')).steadyMs()).toBe(0)
    expect((await open(stage)).steadyMs()).toBe(0)
    await stage.pass(minute)
    expect((await open(stage)).steadyMs()).toBe(minute)
    // After a restart, a machine counts from its start.
    expect((await open(stage, 'kept', new FakeClock(stage.clock.now()))).steadyMs()).toBe(0)
  })

  it('after a jump takes over no run of a live worker, and that of a dead one when its lease has expired', async () => {
    const stage = new Stage()
    const work = new Work()
    await open(stage)
    const holder = await stage.process({ jobs: { work: work.handler }, leaseMs: 30 * second })
    await enqueue(stage, ['a'])
    await stage.pass(minute)
    stage.clock.step(20 * minute)
    expect(await reclaimLost(stage.store, await open(stage))).toBe(0)
    await stage.pass(31 * second)
    expect(await reclaimLost(stage.store, await open(stage))).toBe(0)
    holder.kill()
    stage.clock.step(20 * minute)
    expect(await reclaimLost(stage.store, await open(stage))).toBe(0)
    await stage.pass(31 * second)
    expect(await reclaimLost(stage.store, await open(stage))).toBe(1)
  })

  it('reclaims immediately what a worker gave up, whatever the clock did', async () => {
    const stage = new Stage()
    const { store } = stage
    const performs = { jobs: { work: () => undefined } }
    await stage.process({ ...performs, roles: { worker: false, scheduler: false } })
    await enqueue(stage, ['a'])
    await store.register({ id: 'w', host: 'h', pid: 1, version: '0', now: t0, leaseMs: hour })
    const claimRequest = { jobs: ['work'], slots: 1, prefetch: 0 }
    await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
    await store.retire({ worker: 'w', now: t0 })
    expect(await reclaimLost(store, await open(stage))).toBe(1)
  })
})
