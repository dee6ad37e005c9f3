import { describe, expect, it } from 'vitest'
import { changed, enqueue, Stage, type Process } from '../../../test/fixtures/engine-stage.js'
import type { Claim } from '../../store/port.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { SmallShare, type ShareOfTurn } from './small-share.js'

const small: ShareOfTurn = { claims: claims(3), concurrency: 10, isQuick: true }

function claims(count: number, isLimited?: false): readonly Claim[] {
  const claim = { run: 'run', job: 'work', trigger: undefined, attempt: 1, failures: 0, crashes: 0, dueAt: 0 }
  const one = { ...claim, partition: undefined, payload: undefined, claimedAt: 0 }
  const limited = isLimited === false ? undefined : true
  return Array.from({ length: count }, () => ({ ...one, isLimited: limited }))
}

function shareAfter(turns: number, turn: Partial<ShareOfTurn> = {}): { clock: FakeClock; share: SmallShare } {
  const clock = new FakeClock(0)
  const share = new SmallShare(clock, () => undefined)
  for (let i = 0; i < turns; i++) share.turned({ ...small, ...turn })
  return { clock, share }
}

describe('a share of a limit', () => {
  it('is given up for a moment after twenty small and quick turns in a row', async () => {
    expect(shareAfter(19).share.isResting).toBe(false)
    const { clock, share } = shareAfter(20)
    expect(share.isResting).toBe(true)
    await clock.advance(19)
    expect(share.isResting).toBe(true)
    await clock.advance(1)
    expect(share.isResting).toBe(false)
  })

  it.each([
    ['as many runs as the worker can perform at once', { claims: claims(10) }],
    ['runs without a limit', { claims: claims(3, false) }],
    ['runs that take longer than a turn', { isQuick: false }],
    ['no runs', { claims: [] }],
  ])('is kept by turns with %s', (_, turn) => {
    const { share } = shareAfter(19)
    share.turned({ ...small, ...turn })
    share.turned(small)
    expect(share.isResting).toBe(false)
    expect(shareAfter(100, turn).share.isResting).toBe(false)
  })

  it('is not given up by a worker that was closed during its last turn', () => {
    const { share } = shareAfter(19)
    share.close()
    share.turned(small)
    expect(share.isResting).toBe(false)
  })

  it('is kept for longer each time that no other worker takes it', async () => {
    const { clock, share } = shareAfter(20)
    const keptMs: number[] = []
    for (let i = 0; i < 9; i++) {
      await clock.advance(20)
      const fromMs = clock.monotonicMs()
      for (let turns = 0; turns < 200_000 && !share.isResting; turns++) {
        share.turned(small)
        if (!share.isResting) await clock.advance(10)
      }
      keptMs.push(clock.monotonicMs() - fromMs)
    }
    expect(keptMs).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('is given up again soon if another worker took it', async () => {
    const { clock, share } = shareAfter(20)
    await clock.advance(20)
    share.turned({ ...small, claims: claims(1) })
    for (let i = 0; i < 30; i++) share.turned({ ...small, claims: claims(1) })
    expect(share.isResting).toBe(false)
    await clock.advance(250)
    share.turned({ ...small, claims: claims(1) })
    expect(share.isResting).toBe(true)
  })
})

describe('a worker whose share of a job limit is small', () => {
  it('leaves it to another worker that has room', async () => {
    const { stage, processes, performed } = await sharing(15)
    await stage.pass(100)
    const before = [...performed]
    await stage.pass(100)
    expect(performed.map((count, i) => count - (before[i] ?? 0)).filter((count) => count === 0)).toHaveLength(
      1,
    )
    for (const process of processes) process.kill()
  })

  it.each([2, 15, 30])(
    'loses almost no time if there is no other worker and a turn takes %s ms',
    async (turnMs) => {
      const { stage, processes, performed } = await sharing(5, { count: 1, turnMs })
      const forMs = 1000 * turnMs
      await stage.pass(forMs)
      // Twenty milliseconds and a turn without claims, at first and after 0.5, 1, 2, 4, 8 and 16 s.
      const turns = (forMs - 7 * (20 + turnMs)) / turnMs
      expect(performed[0]).toBeGreaterThan(5 * (turns - 15))
      for (const process of processes) process.kill()
    },
  )
})

/** Processes that perform runs of one limited job, which take no time. */
async function sharing(
  limit: number,
  { count = 2, turnMs = 2 } = {},
): Promise<{ stage: Stage; processes: Process[]; performed: number[] }> {
  const stage = new Stage()
  const performed: number[] = Array.from({ length: count }, () => 0)
  const processes: Process[] = []
  for (let i = 0; i < count; i++) {
    const handler = (): void => void (performed[i] = (performed[i] ?? 0) + 1)
    const store = changed(stage.store, {
      turn: async (turn) => {
        await stage.clock.sleep(turnMs)
        return await stage.store.turn(turn)
      },
    })
    const jobs = { work: { handler, concurrency: limit } }
    processes.push(await stage.process({ jobs, concurrency: 10, store }))
  }
  const slots = [{ key: 'job:work', limit }]
  await enqueue(
    stage,
    Array.from({ length: 20_000 }, (_, i) => `r${i}`),
    { slots },
  )
  return { stage, processes, performed }
}
