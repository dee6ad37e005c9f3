import { expect } from 'vitest'
import { aRun, minute, outcomes, t0, type Law } from '../stage.js'

/** Workers that no longer claim runs. */
export function drainingLaws(law: Law): void {
  law('a draining worker claims nothing, keeps its runs and finishes them', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1'), aRun('2')])
    const claim = await stage.claimOne('w', t0)
    expect(await stage.store.drain({ worker: 'w', isDraining: true })).toBe('changed')
    expect(await stage.claim('w', t0 + 1)).toEqual([])
    expect(await stage.claim('w', t0 + 1, { slots: 1, prefetch: 5 })).toEqual([])
    expect(await stage.store.workers()).toMatchObject([{ id: 'w', isDraining: true, running: 1 }])
    expect(await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 2 })).toBe('stored')
    expect(await stage.states([aRun('1'), aRun('2')])).toEqual(['done', 'pending'])
  })

  law('a heartbeat renews the lease of a draining worker, and returns that it is draining', async (stage) => {
    await stage.ready({}, minute)
    await stage.store.drain({ worker: 'w', isDraining: true })
    expect(await stage.store.heartbeat({ worker: 'w', now: t0 + 5, leaseMs: minute })).toBe('draining')
    expect(await stage.store.workers()).toMatchObject([{ lastBeatAt: t0 + 5, leaseUntil: t0 + 5 + minute }])
    await stage.reopen()
    expect(await stage.store.heartbeat({ worker: 'w', now: t0 + 6, leaseMs: minute })).toBe('draining')
  })

  law(
    'a worker that registers again changes its slots, and neither its lease nor its draining',
    async (stage) => {
      const known = { id: 'w', host: 'here', pid: 1, version: '0', leaseMs: minute }
      await stage.store.register({ ...known, slots: 10, now: t0 })
      await stage.store.drain({ worker: 'w', isDraining: true })
      await stage.store.register({ ...known, slots: 3, now: t0 + minute })
      await stage.reopen()
      const kept = { slots: 3, isDraining: true, startedAt: t0, leaseUntil: t0 + minute }
      expect(await stage.store.workers()).toMatchObject([{ id: 'w', ...kept }])
    },
  )

  law('a worker that replaces a draining one drains, also when the other is gone', async (stage) => {
    const known = { host: 'here', pid: 1, version: '0', now: t0, leaseMs: minute }
    for (const id of ['drained', 'other']) await stage.store.register({ id, ...known })
    await stage.store.drain({ worker: 'drained', isDraining: true })
    await stage.store.expire({ now: t0 + 9 * minute, deadline: t0 + 9 * minute, limit: 9 })
    await stage.store.register({ id: 'after drained', replaces: 'drained', ...known })
    await stage.store.register({ id: 'after other', replaces: 'other', ...known })
    await stage.store.register({ id: 'after nobody', replaces: 'nobody', ...known })
    await stage.reopen()
    expect((await stage.store.workers()).map(({ id, isDraining }) => [id, isDraining])).toEqual([
      ['after drained', true],
      ['after nobody', false],
      ['after other', false],
    ])
  })

  law('others claim the runs that a draining worker leaves', async (stage) => {
    await stage.ready()
    await stage.worker('other')
    await stage.enqueue([aRun('1'), aRun('2')])
    await stage.claimOne('w', t0)
    await stage.store.drain({ worker: 'w', isDraining: true })
    expect(await stage.claim('other', t0)).toHaveLength(1)
  })

  law('a worker that is undrained claims again', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('1')])
    await stage.store.drain({ worker: 'w', isDraining: true })
    expect(await stage.store.drain({ worker: 'w', isDraining: false })).toBe('changed')
    expect(await stage.store.heartbeat({ worker: 'w', now: t0 + 1, leaseMs: minute })).toBe('alive')
    expect(await stage.claim('w', t0 + 1)).toHaveLength(1)
  })

  law('draining twice changes nothing; a gone or unknown worker cannot be drained', async (stage) => {
    await stage.ready({}, minute)
    await stage.worker('silent', t0, 1)
    expect(await stage.store.drain({ worker: 'w', isDraining: false })).toBe('already')
    await stage.store.drain({ worker: 'w', isDraining: true })
    expect(await stage.store.drain({ worker: 'w', isDraining: true })).toBe('already')
    expect(await stage.store.drain({ worker: 'nobody', isDraining: true })).toBe('absent')
    await stage.store.expire({ now: t0 + 9, deadline: t0 + 9, limit: 9 })
    expect(await stage.store.drain({ worker: 'silent', isDraining: true })).toBe('absent')
    await stage.store.retire({ worker: 'w', now: t0 })
    expect(await stage.store.drain({ worker: 'w', isDraining: false })).toBe('absent')
  })

  law('a draining worker that dies loses its runs like any other', async (stage) => {
    await stage.ready({}, minute)
    await stage.enqueue([aRun('1')])
    const claim = await stage.claimOne('w', t0)
    await stage.store.drain({ worker: 'w', isDraining: true })
    const late = t0 + 2 * minute
    const lost = await stage.store.expire({ now: late, deadline: late, limit: 9 })
    expect(lost.map(({ run }) => run)).toEqual([claim.run])
  })

  law('every process is listed with its roles and its number of slots', async (stage) => {
    const process = { host: 'h', pid: 7, version: '1', now: t0, leaseMs: minute }
    await stage.store.register({ ...process, id: 'both', roles: ['scheduler', 'worker'], slots: 4 })
    await stage.store.register({ ...process, id: 'planner', roles: ['scheduler'], slots: 0 })
    await stage.store.register({ ...process, id: 'quiet', roles: [], slots: 0 })
    await stage.reopen()
    const known = (await stage.store.workers()).map(({ id, roles, slots }) => ({ id, roles, slots }))
    expect(known).toEqual([
      { id: 'both', roles: ['scheduler', 'worker'], slots: 4 },
      { id: 'planner', roles: ['scheduler'], slots: 0 },
      { id: 'quiet', roles: [], slots: 0 },
    ])
  })

  law('the last heartbeats of processes with a role stay known when they are gone', async (stage) => {
    const { store } = stage
    const process = { host: 'h', pid: 7, version: '1', leaseMs: minute }
    await store.register({ ...process, id: 'killed', roles: ['scheduler', 'worker'], now: t0 })
    await store.heartbeat({ worker: 'killed', now: t0 + 5, leaseMs: minute })
    await store.register({ ...process, id: 'performs', roles: ['worker'], now: t0 + 6 })
    await store.expire({ now: t0 + 2 * minute, deadline: t0 + 2 * minute, limit: 9 })
    await store.register({ ...process, id: 'slept', roles: ['scheduler'], now: t0 + 10 * minute })
    await store.heartbeat({ worker: 'slept', now: t0 + 20 * minute, leaseMs: minute })
    await store.retire({ worker: 'slept', now: t0 + 20 * minute })
    await stage.enqueue([aRun('1')], t0 + 30 * minute)
    await stage.reopen()
    const signs = (role: string, until: number) => stage.store.signsOf({ role, until })
    const none = { lastBeatAt: undefined, livingSince: undefined }
    expect(await signs('scheduler', t0 - 1)).toEqual(none)
    expect(await signs('sched', t0 + 40 * minute)).toEqual(none)
    expect(await signs('scheduler', t0 + 4)).toEqual({ ...none, livingSince: t0 })
    expect(await signs('scheduler', t0 + 9 * minute)).toEqual({ ...none, lastBeatAt: t0 + 5 })
    const asleep = { lastBeatAt: t0 + 5, livingSince: t0 + 10 * minute }
    expect(await signs('scheduler', t0 + 15 * minute)).toEqual(asleep)
    expect(await signs('scheduler', t0 + 40 * minute)).toEqual({ ...none, lastBeatAt: t0 + 20 * minute })
    expect(await signs('worker', t0 + 40 * minute)).toEqual({ ...none, lastBeatAt: t0 + 6 })
  })
}
