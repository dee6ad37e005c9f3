import { expect } from 'vitest'
import { planTick } from '../../../kernel/tick/tick.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law } from '../stage.js'

/** Due triggers, ticks, and the runs that ticks supersede. */
export function planningLaws(law: Law): void {
  law('due triggers are ordered by their next tick, then by name, up to the limit', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('late'), { nextAt: t0 + 3 })
    await stage.trigger(aTrigger('b'), { nextAt: t0 + 2 })
    await stage.trigger(aTrigger('a'), { nextAt: t0 + 2 })
    await stage.trigger(aTrigger('future'), { nextAt: t0 + 9 })
    const names = async (limit: number): Promise<string[]> =>
      (await stage.store.due({ now: t0 + 3, limit })).map(({ trigger }) => trigger.name)
    expect(await names(10)).toEqual(['a', 'b', 'late'])
    expect(await names(2)).toEqual(['a', 'b'])
    expect(await stage.store.nextTickAt({ now: t0 })).toBe(t0 + 2)
  })

  law('a due trigger comes with its job, and a disabled one is never due', async (stage) => {
    const job = aJob('work', { concurrency: 2 })
    await stage.jobs([job])
    await stage.trigger(aTrigger('on'))
    await stage.trigger(aTrigger('off', { enabled: false }))
    const due = await stage.store.due({ now: t0 + minute, limit: 10 })
    expect(due.map(({ trigger, jobDefinition }) => [trigger.name, jobDefinition])).toEqual([['on', job]])
    await stage.trigger(aTrigger('on', { enabled: false }))
    expect(await stage.store.due({ now: t0 + minute, limit: 10 })).toEqual([])
    expect(await stage.store.nextTickAt({ now: t0 })).toBeUndefined()
  })

  law('G2: a tick moves the cursor and records its runs and ranges together', async (stage) => {
    await stage.jobs([aJob('work')])
    const catchUp = { mode: 'all', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 } as const
    await stage.trigger(aTrigger('t', { catchUp, payload: { x: 1 } }))
    const now = t0 + 3 * minute + 1
    const tick = await stage.tick('t', now)
    expect(await stage.stored('t')).toMatchObject({ cursorAt: now, nextAt: t0 + 4 * minute, revision: 2 })
    const runs = await stage.store.runs({ limit: 9, trigger: 't' })
    expect(runs).toEqual([
      {
        id: tick.runs[0]?.id,
        slots: [],
        job: 'work',
        origin: 'trigger',
        trigger: 't',
        version: 1,
        dueAt: t0 + 3 * minute,
        runAt: t0 + 3 * minute,
        state: 'pending',
        priority: 0,
        payload: { x: 1 },
        attempt: 0,
        failures: 0,
        crashes: 0,
        cancelRequested: false,
        createdAt: now,
      },
    ])
    const ledger = await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: now })
    expect(ledger).toEqual([{ ...tick.ranges[0], recordedAt: now }])
  })

  law(
    'G2: the same tick twice leaves one set of runs; the second one is stale and writes nothing',
    async (stage) => {
      await stage.jobs([aJob('work')])
      await stage.trigger(aTrigger('t'))
      const now = t0 + 2 * minute
      const tick = planTick(await stage.seen('t', now), now)
      expect(await stage.store.tick([tick, tick])).toEqual(['ticked', 'stale'])
      expect(await stage.store.tick([tick])).toEqual(['stale'])
      expect(await stage.store.runs({ limit: 9 })).toHaveLength(2)
      expect(await stage.stored('t')).toMatchObject({ revision: 2 })
    },
  )

  law('G2: a stale tick writes neither runs nor ranges nor a cursor', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const now = t0 + 2 * minute
    const old = planTick(await stage.seen('t', now), now)
    await stage.tick('t', t0 + minute)
    const before = [await stage.stored('t'), await stage.store.runs({ limit: 9 })]
    expect(await stage.store.tick([old])).toEqual(['stale'])
    expect([await stage.stored('t'), await stage.store.runs({ limit: 9 })]).toEqual(before)
    expect(await stage.store.tick([{ ...old, trigger: 'nobody' }])).toEqual(['stale'])
  })

  law('G1: a run that a tick inserts again stays unchanged', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    const first = await stage.tick('t', t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + minute + 1 })
    const before = await stage.run(claim.run)
    await stage.tick('t', t0 + minute + 2, { runs: first.runs, cursorAt: t0 + minute })
    expect(await stage.run(claim.run)).toEqual(before)
    expect(await stage.store.runs({ limit: 9 })).toHaveLength(1)
  })

  law('the ticks of one batch are independent of each other', async (stage) => {
    await stage.trigger(aTrigger('a'))
    await stage.trigger(aTrigger('b'))
    const now = t0 + minute
    const [a, b] = [planTick(await stage.seen('a', now), now), planTick(await stage.seen('b', now), now)]
    expect(await stage.store.tick([{ ...a, revision: 9 }, b])).toEqual(['stale', 'ticked'])
    const runs = await stage.store.runs({ limit: 9 })
    expect(runs.map(({ trigger }) => trigger)).toEqual(['b'])
  })

  law('the ticks of one batch take their slots as if each were committed separately', async (stage) => {
    await stage.ready()
    const names = ['a', 'b', 'c']
    for (const name of names) await stage.trigger(aTrigger(name, { overlap: 'queue-all' }))
    await stage.tick('b', t0 + minute)
    const now = t0 + 2 * minute
    const seen = await Promise.all(names.map((name) => stage.seen(name, now)))
    const ticks = seen
      .map((due) => planTick(due, now))
      .map((tick) => ({ ...tick, runs: tick.runs.slice(-1) }))
    expect(await stage.store.tick(ticks)).toEqual(['ticked', 'ticked', 'ticked'])
    const newest = ticks.flatMap(({ runs }) => runs)
    const waiting = await Promise.all(newest.map(async ({ id }) => (await stage.run(id)).waitsFor))
    expect(waiting).toEqual([undefined, 'trigger:b', undefined])
    // The same runs again: they exist, and take no slot a second time.
    const again = ticks.map((tick) => ({ ...tick, revision: tick.revision + 1 }))
    expect(await stage.store.tick(again)).toEqual(['ticked', 'ticked', 'ticked'])
    for (const claim of await stage.claim('w', now, { slots: 9 }))
      await stage.finish('w', claim, { outcome: outcomes.done, at: now })
    const last = await stage.claim('w', now, { slots: 9 })
    expect(last.map(({ run }) => run)).toEqual([newest[1]?.id])
    for (const claim of last) await stage.finish('w', claim, { outcome: outcomes.done, at: now })
    for (const name of names) {
      const [next] = (await stage.tick(name, t0 + 3 * minute)).runs
      expect((await stage.run(next?.id ?? '')).waitsFor).toBeUndefined()
    }
  })

  law('a due trigger shows its unfinished runs, oldest first, and at most 100', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.tick('t', t0 + 2 * minute)
    const done = await stage.claimOne('w', t0 + 2 * minute)
    await stage.finish('w', done, { outcome: outcomes.done, at: t0 + 2 * minute })
    const running = await stage.claimOne('w', t0 + 2 * minute)
    const runs = Array.from({ length: 110 }, (_, i) =>
      aRun(`x${i}`, { trigger: 't', dueAt: t0 + 3 * minute + i }),
    )
    await stage.enqueue(runs)
    const { unfinished } = await stage.seen('t', t0 + 9 * minute)
    expect(unfinished).toHaveLength(100)
    expect(unfinished[0]).toEqual({ id: running.run, state: 'running' })
    expect(unfinished[1]).toEqual({ id: runs[0]?.id, state: 'pending' })
  })

  law(
    'superseding by cancel ends pending runs and asks the workers of running ones to stop',
    async (stage) => {
      await stage.ready()
      await stage.trigger(aTrigger('t', { overlap: 'cancel-running' }))
      const first = await stage.tick('t', t0 + minute)
      const claim = await stage.claimOne('w', t0 + minute)
      await stage.enqueue([aRun('by hand', { trigger: 't', origin: 'manual', runAt: t0 + 9 * minute })])
      const second = await stage.tick('t', t0 + 2 * minute)
      const newest = second.runs[0]?.id ?? ''
      expect(await stage.run(claim.run)).toMatchObject({ state: 'running', cancelRequested: true })
      expect(await stage.run(aRun('by hand').id)).toMatchObject({
        state: 'cancelled',
        reason: `superseded by ${newest}`,
        finishedAt: t0 + 2 * minute,
      })
      expect(await stage.run(newest)).toMatchObject({ state: 'pending', waitsFor: 'trigger:t' })
      const { notices } = await stage.turn('w', t0 + 2 * minute)
      expect(notices).toEqual([{ run: first.runs[0]?.id, attempt: 1, kind: 'cancel' }])
      await stage.finish('w', claim, { outcome: outcomes.cancelled, at: t0 + 2 * minute + 5 })
      expect(await stage.run(claim.run)).toMatchObject({
        state: 'cancelled',
        reason: `superseded by ${newest}`,
      })
      expect((await stage.claimOne('w', t0 + 2 * minute + 5)).run).toBe(newest)
    },
  )

  law('superseding by terminate closes claims immediately, and the new run may start', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { overlap: 'terminate-running' }))
    await stage.tick('t', t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    const now = t0 + 2 * minute
    const second = await stage.tick('t', now)
    const newest = second.runs[0]?.id ?? ''
    const ended = await stage.run(claim.run)
    expect(ended).toMatchObject({ state: 'cancelled', reason: `superseded by ${newest}`, finishedAt: now })
    expect(await stage.store.attempts(claim.run)).toMatchObject([
      { attempt: 1, end: 'cancelled', endedAt: now },
    ])
    expect((await stage.claimOne('w', now)).run).toBe(newest)
    expect(await stage.finish('w', claim, { outcome: outcomes.done, at: now + 1 })).toBe('stale')
  })

  law('a worker whose claim was closed gets one notice to terminate', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { overlap: 'terminate-running' }))
    await stage.tick('t', t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    await stage.tick('t', t0 + 2 * minute)
    const first = await stage.turn('w', t0 + 2 * minute)
    expect(first.notices).toEqual([{ run: claim.run, attempt: 1, kind: 'terminate' }])
    expect((await stage.turn('w', t0 + 2 * minute)).notices).toEqual([])
  })

  law('superseding never affects the runs of the same tick or of another trigger', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.trigger(aTrigger('other'))
    const other = await stage.tick('other', t0 + minute)
    const now = t0 + 2 * minute
    const planned = planTick(await stage.seen('t', now), now)
    const by = planned.runs[1]?.id ?? ''
    await stage.store.tick([{ ...planned, supersede: { mode: 'terminate', by } }])
    expect(await stage.states([...planned.runs, ...other.runs])).toEqual(['pending', 'pending', 'pending'])
  })

  law(
    'a backfill changes nothing about what is due now: its runs neither block nor are superseded',
    async (stage) => {
      await stage.ready()
      await stage.trigger(aTrigger('t', { overlap: 'cancel-running' }))
      const old = { trigger: 't', version: 1, dueAt: t0 - minute, origin: 'backfill' } as const
      const [pending, running] = [aRun('pending', old), aRun('running', { ...old, priority: 5 })]
      await stage.enqueue([pending, running])
      await stage.claim('w', t0, { slots: 1 })
      expect((await stage.seen('t', t0 + minute)).unfinished).toEqual([])
      await stage.tick('t', t0 + minute)
      await stage.tick('t', t0 + 2 * minute)
      expect(await stage.run(pending.id)).toMatchObject({ state: 'pending' })
      expect(await stage.run(running.id)).toMatchObject({ state: 'running', cancelRequested: false })
      const own = await stage.store.runInstants({ trigger: 't', fromAt: t0 - minute, untilAt: t0, limit: 9 })
      expect(own).toEqual([])
    },
  )
}
