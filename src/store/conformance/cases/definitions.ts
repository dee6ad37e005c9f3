import { expect } from 'vitest'
import { planTick } from '../../../kernel/tick/tick.js'
import type { TriggerFilter } from '../../port.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law } from '../stage.js'

/** Jobs, queues, triggers and their versions. */
export function definitionLaws(law: Law): void {
  law('jobs are returned by name as they were defined', async (stage) => {
    const jobs = [aJob('b', { queue: 'slow', concurrency: 2 }), aJob('a', { timeoutMs: 5, priority: 3 })]
    await stage.jobs(jobs)
    const stored = await stage.store.jobs()
    expect(stored).toEqual([
      { job: jobs[1], source: 'code:test' },
      { job: jobs[0], source: 'code:test' },
    ])
  })

  law(
    'a job of another source is a conflict that names the source, and the job stays unchanged',
    async (stage) => {
      await stage.jobs([aJob('a', { priority: 1 })])
      const request = { source: 'api', jobs: [aJob('a', { priority: 2 }), aJob('b')], queues: [], now: t0 }
      expect(await stage.store.defineJobs(request)).toEqual([{ name: 'a', source: 'code:test' }])
      const stored = await stage.store.jobs()
      expect(stored.map(({ job, source }) => [job.name, job.priority, source])).toEqual([
        ['a', 1, 'code:test'],
        ['b', 0, 'api'],
      ])
    },
  )

  law('a job that its source has removed may be defined by any source', async (stage) => {
    const end = (source: string) =>
      stage.store.defineJobs({ source, jobs: [aJob('a', { ended: true })], queues: [], now: t0 })
    const take = (source: string) =>
      stage.store.defineJobs({ source, jobs: [aJob('a')], queues: [], now: t0 })
    await stage.jobs([aJob('a')])
    await end('code:test')
    expect(await stage.store.jobs()).toEqual([{ job: aJob('a', { ended: true }), source: 'code:test' }])
    expect(await take('code:test')).toEqual([])
    await end('code:test')
    expect(await take('api')).toEqual([])
    expect(await stage.store.jobs()).toEqual([{ job: aJob('a'), source: 'api' }])
    expect(await end('code:test')).toEqual([{ name: 'a', source: 'api' }])
    expect(await take('code:test')).toEqual([{ name: 'a', source: 'api' }])
  })

  law('a turn returns a new jobs revision after jobs were defined or removed', async (stage) => {
    await stage.ready()
    const first = (await stage.turn('w', t0)).jobsRevision
    expect((await stage.turn('w', t0)).jobsRevision).toBe(first)
    await stage.jobs([aJob('other')])
    const second = (await stage.turn('w', t0)).jobsRevision
    expect(second).not.toBe(first)
    await stage.store.removeJobs(['other'])
    expect((await stage.turn('w', t0)).jobsRevision).not.toBe(second)
  })

  law('a job is removed only if no active trigger uses it and it has no unfinished run', async (stage) => {
    await stage.jobs([aJob('work'), aJob('busy'), aJob('idle')])
    await stage.trigger(aTrigger('t'))
    await stage.enqueue([aRun('r', { job: 'busy' })])
    const kept = await stage.store.removeJobs(['work', 'busy', 'idle'])
    expect(kept.toSorted()).toEqual(['busy', 'work'])
    const left = await stage.store.jobs()
    expect(left.map(({ job }) => job.name)).toEqual(['busy', 'work'])
  })

  law(
    'a queue shows its limit, whether it is paused, and how many runs are ready and running',
    async (stage) => {
      await stage.jobs([aJob('work', { queue: 'q' })], [{ name: 'q', concurrency: 5 }])
      await stage.worker('w')
      await stage.enqueue([aRun('a'), aRun('b'), aRun('later', { runAt: t0 + minute })])
      await stage.claimOne('w', t0)
      await stage.store.hold({ target: 'queue:q', now: t0, actor: 'me', note: '' })
      const queues = await stage.store.queues()
      expect(queues.filter(({ name }) => name === 'q')).toEqual([
        {
          name: 'q',
          concurrency: 5,
          paused: true,
          ready: 1,
          oldestReadyAt: t0,
          running: 1,
          delayed: 1,
          blocked: 0,
        },
      ])
    },
  )

  law('a new trigger has revision 1, version 1 and the given cursor', async (stage) => {
    await stage.jobs([aJob('work')])
    const trigger = aTrigger('t', { payload: { a: [1, null, 'x'] } })
    expect(await stage.trigger(trigger)).toBe('defined')
    expect(await stage.stored('t')).toEqual({
      trigger,
      source: 'code:test',
      version: 1,
      revision: 1,
      definedAt: t0,
      cursorAt: t0,
      nextAt: t0 + minute,
      chainRun: undefined,
      active: true,
    })
  })

  law('a definition computed from another revision is stale and changes nothing', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const before = await stage.stored('t')
    expect(await stage.trigger(aTrigger('t', { priority: 9 }), { revision: 0 })).toBe('stale')
    expect(await stage.trigger(aTrigger('t', { priority: 9 }), { revision: 7 })).toBe('stale')
    expect(await stage.stored('t')).toEqual(before)
    expect(await stage.store.versions('t')).toHaveLength(1)
  })

  law(
    'a name that is active in another source is a conflict; an ended one may be defined again',
    async (stage) => {
      await stage.trigger(aTrigger('t'))
      expect(await stage.trigger(aTrigger('t'), { source: 'api' })).toEqual({ conflict: 'code:test' })
      const end = { trigger: undefined, now: t0 + minute, cursorAt: t0 + minute, nextAt: undefined }
      expect(await stage.trigger(aTrigger('t'), end)).toBe('defined')
      expect(await stage.trigger(aTrigger('t'), { source: 'api' })).toBe('defined')
      expect(await stage.stored('t')).toMatchObject({ source: 'api', active: true, version: 2 })
    },
  )

  law('each item of a batch is written completely or not at all', async (stage) => {
    await stage.trigger(aTrigger('a'))
    const item = (name: string, revision: number) => ({
      name,
      source: 'code:test',
      revision,
      now: t0,
      trigger: aTrigger(name),
      fingerprint: 'x',
      tzdata: '2026a',
      closing: undefined,
      cursorAt: t0,
      nextAt: undefined,
      cancelPending: false,
    })
    expect(await stage.store.defineTriggers([item('a', 5), item('b', 0)])).toEqual(['stale', 'defined'])
  })

  law(
    'a change without a closing tick ends the version at the cursor, where the next one begins',
    async (stage) => {
      await stage.trigger(aTrigger('t'))
      await stage.tick('t', t0 + minute)
      await stage.trigger(aTrigger('t', { priority: 4 }), { now: t0 + 90_000 })
      const versions = await stage.store.versions('t')
      expect(versions.map(({ version, validFrom, validUntil }) => [version, validFrom, validUntil])).toEqual([
        [1, t0, t0 + minute],
        [2, t0 + minute, undefined],
      ])
      expect(versions.map(({ trigger }) => trigger.priority)).toEqual([undefined, 4])
      expect(await stage.stored('t')).toMatchObject({ version: 2, revision: 3, cursorAt: t0 + minute })
    },
  )

  law(
    'a change that moves the cursor without a closing tick begins the next version at the new cursor',
    async (stage) => {
      await stage.trigger(aTrigger('t', { enabled: false }), { nextAt: undefined })
      const now = t0 + 5 * minute
      await stage.trigger(aTrigger('t'), { now, cursorAt: now, nextAt: t0 + 6 * minute })
      const versions = await stage.store.versions('t')
      expect(versions.map(({ validFrom, validUntil }) => [validFrom, validUntil])).toEqual([
        [t0, now],
        [now, undefined],
      ])
    },
  )

  law(
    'a change with a closing tick plans the old version up to now in the same transaction',
    async (stage) => {
      await stage.jobs([aJob('work')])
      await stage.trigger(aTrigger('t'))
      const now = t0 + 2 * minute + 1
      const closing = planTick(await stage.seen('t', now), now)
      await stage.trigger(aTrigger('t', { schedule: { kind: 'once', at: t0 + 99 * minute } }), {
        now,
        closing,
        cursorAt: now,
        nextAt: t0 + 99 * minute,
      })
      const runs = await stage.store.runs({ limit: 10, trigger: 't' })
      expect(runs.map(({ dueAt, version }) => [dueAt, version])).toEqual([
        [t0 + 2 * minute, 1],
        [t0 + minute, 1],
      ])
      const versions = await stage.store.versions('t')
      expect(versions.map(({ validFrom, validUntil }) => [validFrom, validUntil])).toEqual([
        [t0, now],
        [now, undefined],
      ])
      expect(await stage.stored('t')).toMatchObject({ cursorAt: now, nextAt: t0 + 99 * minute, version: 2 })
    },
  )

  law('an ended trigger never ticks; its history, runs and versions stay', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const { runs } = await stage.tick('t', t0 + minute)
    const now = t0 + minute + 5
    await stage.trigger(aTrigger('t'), { trigger: undefined, now, cursorAt: now, nextAt: undefined })
    expect(await stage.stored('t')).toMatchObject({ active: false, nextAt: undefined })
    expect(await stage.store.due({ now: t0 + 99 * minute, limit: 10 })).toEqual([])
    expect(await stage.store.nextTickAt({ now })).toBeUndefined()
    expect(await stage.states(runs)).toEqual(['pending'])
    expect((await stage.store.versions('t')).map(({ validUntil }) => validUntil)).toEqual([now])
  })

  law('ending a trigger cancels its pending runs only on request', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    const { runs } = await stage.tick('t', t0 + 2 * minute)
    await stage.claimOne('w', t0 + 2 * minute)
    const now = t0 + 3 * minute
    const end = { trigger: undefined, now, cursorAt: now, nextAt: undefined, cancelPending: true }
    await stage.trigger(aTrigger('t'), end)
    expect(await stage.states(runs)).toEqual(['running', 'cancelled'])
    expect(await stage.run(runs[1]?.id ?? '')).toMatchObject({ reason: 'removed', finishedAt: now })
  })

  law('a run that is running when its trigger is removed may finish, and is not retried', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.tick('t', t0 + 2 * minute)
    const [fails, works] = await stage.claim('w', t0 + 2 * minute, { slots: 2 })
    const now = t0 + 3 * minute
    const end = { trigger: undefined, now, cursorAt: now, nextAt: undefined, cancelPending: true }
    await stage.trigger(aTrigger('t'), end)
    expect((await stage.turn('w', now)).notices).toEqual([])
    await stage.finish('w', fails!, { outcome: outcomes.again(now), at: now })
    await stage.finish('w', works!, { outcome: outcomes.done, at: now })
    expect(await stage.run(fails!.run)).toMatchObject({ state: 'cancelled', reason: 'removed' })
    expect(await stage.run(works!.run)).toMatchObject({ state: 'done', reason: undefined })
  })

  law('a run that is running when its trigger is removed can still be cancelled', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.tick('t', t0 + 2 * minute)
    const { run } = await stage.claimOne('w', t0 + 2 * minute)
    const now = t0 + 3 * minute
    const end = { trigger: undefined, now, cursorAt: now, nextAt: undefined, cancelPending: true }
    await stage.trigger(aTrigger('t'), end)
    expect(await stage.store.cancel({ run, now, reason: 'enough' })).toBe('requested')
    expect((await stage.turn('w', now)).notices).toMatchObject([{ run, kind: 'cancel' }])
  })

  law('a trigger that is defined again begins a new version at the given cursor', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const [endAt, backAt] = [t0 + 5, t0 + 50]
    await stage.trigger(aTrigger('t'), { trigger: undefined, now: endAt, cursorAt: endAt, nextAt: undefined })
    await stage.trigger(aTrigger('t'), { now: backAt, cursorAt: backAt, nextAt: t0 + minute })
    const versions = await stage.store.versions('t')
    expect(versions.map(({ validFrom, validUntil }) => [validFrom, validUntil])).toEqual([
      [t0, endAt],
      [backAt, undefined],
    ])
    expect(await stage.stored('t')).toMatchObject({ active: true, cursorAt: backAt, nextAt: t0 + minute })
  })

  law('fingerprints are those of the active triggers of one source', async (stage) => {
    await stage.trigger(aTrigger('a'))
    await stage.trigger(aTrigger('b'))
    await stage.trigger(aTrigger('c'), { source: 'api' })
    await stage.trigger(aTrigger('b'), { trigger: undefined, cursorAt: t0, nextAt: undefined })
    expect(await stage.store.fingerprints('code:test')).toEqual(new Map([['a', 'print of a']]))
  })

  law('sources are those of active triggers, each once', async (stage) => {
    expect(await stage.store.sources()).toEqual([])
    for (const name of ['a', 'b']) await stage.trigger(aTrigger(name))
    await stage.trigger(aTrigger('c'), { source: 'api' })
    await stage.trigger(aTrigger('d'), { source: 'plan:é.yaml' })
    await stage.trigger(aTrigger('e'), { source: 'jobs' })
    await stage.trigger(aTrigger('e'), {
      source: 'jobs',
      trigger: undefined,
      cursorAt: t0,
      nextAt: undefined,
    })
    expect(await stage.store.sources()).toEqual(['api', 'code:test', 'plan:é.yaml'])
  })

  law('triggers are returned by name: all, those of one source, or the named ones', async (stage) => {
    await stage.trigger(aTrigger('b'))
    await stage.trigger(aTrigger('a'))
    await stage.trigger(aTrigger('c'), { source: 'api' })
    const names = async (filter?: TriggerFilter): Promise<string[]> =>
      (await stage.store.triggers(filter)).map(({ trigger }) => trigger.name)
    expect(await names()).toEqual(['a', 'b', 'c'])
    expect(await names({ source: 'api' })).toEqual(['c'])
    expect(await names({ names: ['c', 'a', 'nobody', 'a'] })).toEqual(['a', 'c'])
    await stage.trigger(aTrigger('a'), { trigger: undefined, now: t0 + 1, nextAt: undefined })
    expect(await names()).toEqual(['a', 'b', 'c'])
    expect(await names({ active: true })).toEqual(['b', 'c'])
    expect(await names({ active: false, source: 'code:test' })).toEqual(['a'])
    expect(await names({ active: true, names: ['a', 'b'] })).toEqual(['b'])
  })

  law('G7: definitions and cursors are the same after reopening', async (stage) => {
    await stage.jobs([aJob('work', { concurrency: 3 })], [{ name: 'default', concurrency: 7 }])
    await stage.trigger(aTrigger('t', { payload: { deep: [{ x: 1.5 }] } }))
    await stage.tick('t', t0 + minute)
    const facts = async (): Promise<unknown> => [
      await stage.store.jobs(),
      await stage.store.queues(),
      await stage.store.triggers(),
      await stage.store.versions('t'),
    ]
    const before = await facts()
    await stage.reopen()
    expect(await facts()).toEqual(before)
  })
}
