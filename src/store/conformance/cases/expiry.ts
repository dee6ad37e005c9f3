import { expect } from 'vitest'
import { aJob, aRun, minute, outcomes, t0, type Law } from '../stage.js'

/** Workers, leases, and the runs of workers that are gone. */
export function expiryLaws(law: Law): void {
  law('G6: a worker with an overdue heartbeat claims nothing until its lease is renewed', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('r')])
    const late = t0 + minute + 1
    expect(await stage.claim('w', late)).toEqual([])
    expect(await stage.store.heartbeat({ worker: 'w', now: late, leaseMs: minute })).toBe('alive')
    expect(await stage.claim('w', late)).toHaveLength(1)
  })

  law('a worker with a longer lease than requested is not expired', async (stage) => {
    const process = { host: 'h', pid: 7, version: '1', now: t0 }
    await stage.store.register({ ...process, id: 'short', leaseMs: minute })
    await stage.store.register({ ...process, id: 'long', leaseMs: 2 * minute })
    const lapsed = { now: t0 + 10 * minute, deadline: t0 + 10 * minute, limit: 9 }
    await stage.store.expire({ ...lapsed, longestMs: minute - 1 })
    expect(await stage.store.workers()).toHaveLength(2)
    await stage.store.expire({ ...lapsed, longestMs: minute })
    expect(await stage.store.workers()).toMatchObject([{ id: 'long' }])
    await stage.store.expire(lapsed)
    expect(await stage.store.workers()).toEqual([])
  })

  law('a heartbeat renews the lease; workers show how many runs they perform', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('r')])
    await stage.claimOne('w', t0)
    expect(await stage.store.heartbeat({ worker: 'w', now: t0 + 5, leaseMs: minute })).toBe('alive')
    const process = { host: 'here', pid: 1, version: '0', roles: ['worker'], slots: undefined }
    const lease = { startedAt: t0, lastBeatAt: t0 + 5, leaseUntil: t0 + 5 + minute }
    expect(await stage.store.workers()).toEqual([
      { id: 'w', ...process, ...lease, isDraining: false, running: 1 },
    ])
    expect(await stage.store.heartbeat({ worker: 'nobody', now: t0, leaseMs: minute })).toBe('expired')
  })

  law(
    'G4: a worker whose lease ended before the deadline is expired forever, and its claims are returned',
    async (stage) => {
      const job = aJob('work', { maxCrashes: 5 })
      await stage.jobs([job])
      await stage.worker('w', t0, minute)
      await stage.worker('alive', t0 + 1, minute)
      await stage.enqueue([aRun('1'), aRun('2'), aRun('3')])
      const first = await stage.claimOne('w', t0)
      const second = await stage.claimOne('w', t0 + 1)
      await stage.claimOne('alive', t0 + 1)
      const deadline = t0 + minute
      expect(await stage.store.expire({ now: deadline, deadline, limit: 9 })).toEqual([])
      const lost = await stage.store.expire({ now: deadline + 1, deadline: deadline + 1, limit: 9 })
      expect(lost).toEqual([
        { run: first.run, dueAt: first.dueAt, attempt: 1, failures: 0, crashes: 0, worker: 'w', job },
        { run: second.run, dueAt: second.dueAt, attempt: 1, failures: 0, crashes: 0, worker: 'w', job },
      ])
      expect(await stage.store.expire({ now: deadline + 1, deadline: deadline + 1, limit: 1 })).toHaveLength(
        1,
      )
      expect(await stage.store.heartbeat({ worker: 'w', now: deadline + 2, leaseMs: minute })).toBe('expired')
      expect(await stage.store.heartbeat({ worker: 'w', now: deadline + 3, leaseMs: minute })).toBe('expired')
      expect((await stage.store.workers()).map(({ id }) => id)).toEqual(['alive'])
    },
  )

  law(
    'an expired worker claims nothing; its results count as long as its claim is current',
    async (stage) => {
      await stage.ready({}, minute)
      await stage.enqueue([aRun('1'), aRun('2')])
      const claim = await stage.claimOne('w', t0)
      await stage.store.expire({ now: t0 + 2 * minute, deadline: t0 + 2 * minute, limit: 9 })
      const finished = [
        { run: claim.run, attempt: 1, outcome: outcomes.done, startedAt: t0, endedAt: t0 + 1 },
      ]
      const claimRequest = { jobs: ['work'], slots: 5, prefetch: 0 }
      const answer = await stage.store.turn({ worker: 'w', now: t0 + 2 * minute, finished, claimRequest })
      expect(answer).toMatchObject({ expired: true, finished: ['stored'], claims: [], more: false })
      expect(await stage.states([aRun('1'), aRun('2')])).toEqual(['done', 'pending'])
    },
  )

  law('G4: a lost attempt is decided once, by the first report', async (stage) => {
    await stage.ready({}, minute)
    await stage.worker('u1', t0 + 2 * minute, minute)
    await stage.worker('u2', t0 + 2 * minute, minute)
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    const now = t0 + 2 * minute
    const [lost] = await stage.store.expire({ now, deadline: now, limit: 9 })
    expect(await stage.store.expire({ now, deadline: now, limit: 9 })).toEqual([lost])
    expect(await stage.finish('u1', claim, { outcome: outcomes.lost(now), at: now })).toBe('stored')
    expect(await stage.finish('u2', claim, { outcome: outcomes.lost(now), at: now })).toBe('stale')
    expect(await stage.store.expire({ now, deadline: now, limit: 9 })).toEqual([])
    expect(await stage.claimOne('u1', now)).toMatchObject({ attempt: 2, crashes: 1 })
  })

  law(
    'G4: a late report of a lost attempt proves that its worker is alive, so it does not count as a crash',
    async (stage) => {
      await stage.ready({}, minute)
      await stage.enqueue([aRun('r'), aRun('s')])
      const first = await stage.claimOne('w', t0)
      const second = await stage.claimOne('w', t0)
      const now = t0 + 2 * minute
      await stage.worker('u', now, minute)
      await stage.store.expire({ now, deadline: now, limit: 9 })
      for (const claim of [first, second])
        expect(await stage.finish('u', claim, { outcome: outcomes.lost(now), at: now })).toBe('stored')
      const late = { outcome: outcomes.released(now), at: now + 1 }
      expect(await stage.finish('w', first, late)).toBe('stale')
      expect(await stage.finish('w', first, late)).toBe('stale')
      expect(await stage.finish('w', second, { outcome: outcomes.done, at: now + 1 })).toBe('stale')
      for (const { run } of [first, second]) {
        expect(await stage.store.run(run)).toMatchObject({ state: 'pending', crashes: 0 })
        expect(await stage.store.attempts(run)).toMatchObject([{ end: 'released', error: undefined }])
      }
      expect(await stage.claim('u', now + 1, { slots: 9 })).toMatchObject([
        { run: first.run, attempt: 2, crashes: 0 },
        { run: second.run, attempt: 2, crashes: 0 },
      ])
      await stage.reopen()
      expect(await stage.store.run(first.run)).toMatchObject({ state: 'running', attempt: 2, crashes: 0 })
    },
  )

  law('G4: a run that was quarantined because of such an attempt is pending again', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    const now = t0 + 2 * minute
    await stage.worker('u', now, minute)
    await stage.store.expire({ now, deadline: now, limit: 9 })
    const error = { code: 'QUARANTINED', message: 'gone' }
    const quarantined = { end: 'lost', state: 'failed', error, reason: 'quarantined' } as const
    expect(await stage.finish('u', claim, { outcome: quarantined, at: now })).toBe('stored')
    expect(await stage.finish('w', claim, { outcome: outcomes.released(now), at: now + 1 })).toBe('stale')
    expect(await stage.store.run(claim.run)).toMatchObject({
      state: 'pending',
      crashes: 0,
      error: undefined,
      reason: undefined,
    })
    expect(await stage.claimOne('u', now + 1)).toMatchObject({ attempt: 2 })
  })

  law('a retired worker is gone immediately, and its running runs are lost', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    await stage.store.retire({ worker: 'w', now: t0 + 1 })
    expect(await stage.store.workers()).toEqual([])
    expect(await stage.store.heartbeat({ worker: 'w', now: t0 + 2, leaseMs: minute })).toBe('expired')
    const lost = await stage.store.expire({ now: t0 + 2, deadline: t0, limit: 9 })
    expect(lost.map(({ run, worker }) => [run, worker])).toEqual([[claim.run, 'w']])
  })

  law(
    'G9: the epoch rises with every heartbeat, the highest time with every write that has one',
    async (stage) => {
      await stage.ready({}, minute)
      const before = await stage.store.health({ now: t0 })
      await stage.store.heartbeat({ worker: 'w', now: t0 + 50, leaseMs: minute })
      await stage.store.heartbeat({ worker: 'w', now: t0 + 40, leaseMs: minute })
      const after = await stage.store.health({ now: t0 })
      expect(after.epoch).toBe(before.epoch + 2)
      expect(after.highestAt).toBe(t0 + 50)
      await stage.store.enqueue({ runs: [aRun('r')], now: t0 + 60 })
      expect((await stage.store.health({ now: t0 })).highestAt).toBe(t0 + 60)
      await stage.turn('w', t0 + 70)
      expect((await stage.store.health({ now: t0 })).highestAt).toBe(t0 + 70)
      await stage.reopen()
      const again = await stage.store.health({ now: t0 })
      expect([again.id, again.epoch, again.highestAt]).toEqual([after.id, after.epoch, t0 + 70])
    },
  )

  law('a closed store refuses every call with STORE_CLOSED', async (stage) => {
    const { store } = stage
    await store.close()
    await expect(store.jobs()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(
      store.turn({ worker: 'w', now: t0, finished: [], claimRequest: undefined }),
    ).rejects.toMatchObject({
      code: 'STORE_CLOSED',
    })
  })
}
