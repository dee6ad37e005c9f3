import { expect } from 'vitest'
import type { Pulse, TriggersPage } from '../../overview.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

/** Queries about many triggers and runs. */
export function overviewLaws(law: Law): void {
  law('the pulse changes with runs, jobs, holds, workers and state, and with nothing else', async (stage) => {
    await stage.ready()
    const seen: Pulse[] = [await stage.store.pulse()]
    const expectChange = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      const pulse = await stage.store.pulse()
      expect(pulse).not.toEqual(seen.at(-1))
      seen.push(pulse)
    }
    await expectChange(() => stage.jobs([aJob('work'), aJob('new')]))
    await expectChange(() => stage.enqueue([aRun('a')]))
    await expectChange(() => stage.claim('w', t0))
    const [claim] = await stage.store.runs({ limit: 1 })
    await expectChange(() =>
      stage.finish('w', { run: claim?.id ?? '', attempt: 1 }, { outcome: outcomes.done, at: t0 + 1 }),
    )
    await expectChange(() =>
      stage.store.hold({ target: 'queue:default', now: t0 + 2, actor: 'ann', note: '' }),
    )
    await expectChange(() => stage.store.release({ target: 'queue:default', now: t0 + 3, catchUp: false }))
    await expectChange(() => stage.worker('second'))
    await expectChange(() => stage.store.retire({ worker: 'second', now: t0 + 3 }))
    const change = { kind: 'service', name: 'a', item: '', value: 1 } as const
    const write = (more: object = {}): Promise<unknown> =>
      stage.store.changeState({ changes: [{ ...change, ...more }], now: t0 + 3 })
    await expectChange(() => write())
    // All of these in the same millisecond.
    await expectChange(() => write())
    await expectChange(() => write({ name: 'b' }))
    await expectChange(() => write({ value: undefined }))
    await expectChange(() => write({ name: 'b', value: undefined }))
    await stage.store.heartbeat({ worker: 'w', now: t0 + 4, leaseMs: minute })
    await stage.reopen()
    expect({ ...(await stage.store.pulse()), epoch: 0 }).toEqual({ ...seen.at(-1), epoch: 0 })
  })

  law('pages of triggers neither repeat nor miss one, in both orders', async (stage) => {
    await stage.jobs([aJob('work')])
    const names = ['e', 'B', 'a', 'd', 'c', 'Ä']
    for (const [i, name] of names.entries()) {
      await stage.trigger(aTrigger(name), { nextAt: t0 + (1 + (i % 3)) * minute })
    }
    const byName = await pagesOf(stage, { order: 'name', limit: 2 })
    expect(byName).toEqual((await stage.store.triggers()).map(({ trigger }) => trigger.name))
    const byNext = await pagesOf(stage, { order: 'next', limit: 2 })
    expect(byNext).toHaveLength(names.length)
    const nextOf = new Map(names.map((name, i) => [name, i % 3]))
    expect(byNext.map((name) => nextOf.get(name))).toEqual([0, 0, 1, 1, 2, 2])
    for (const [order, names] of [
      ['name', byName],
      ['next', byNext],
    ] as const) {
      for (const [i, name] of names.entries()) {
        const [here] = await stage.store.triggersPage({ order, limit: 1, names: [name] })
        const before = { name, nextAt: here?.nextAt }
        const page = await stage.store.triggersPage({ order, limit: 2, before })
        expect(page.map(({ trigger }) => trigger.name)).toEqual(names.slice(Math.max(0, i - 2), i))
      }
    }
  })

  law('a page of triggers has the triggers that its filter matches', async (stage) => {
    await stage.jobs([aJob('work'), aJob('other')])
    await stage.trigger(aTrigger('Nightly_report'))
    await stage.trigger(aTrigger('nightly%mail', { job: 'other' }))
    await stage.trigger(aTrigger('hourly'), { nextAt: undefined })
    const page = async (filter: Partial<TriggersPage>): Promise<string[]> =>
      (await stage.store.triggersPage({ order: 'name', limit: 9, ...filter })).map(
        ({ trigger }) => trigger.name,
      )
    expect(await page({ search: 'NIGHTLY' })).toEqual(['Nightly_report', 'nightly%mail'])
    expect(await page({ search: 'y_r' })).toEqual(['Nightly_report'])
    expect(await page({ search: '%' })).toEqual(['nightly%mail'])
    expect(await page({ jobs: ['other', 'nobody'] })).toEqual(['nightly%mail'])
    expect(await page({ jobs: [] })).toEqual([])
    expect(await page({ names: ['hourly', 'nobody'] })).toEqual(['hourly'])
    expect(await page({ source: 'code:test', active: true })).toHaveLength(3)
    expect(await page({ source: 'elsewhere' })).toEqual([])
    expect(await page({ active: false })).toEqual([])
    expect(await page({ order: 'next', search: 'h' })).toHaveLength(2)
  })

  law('the newest runs and the lanes of triggers have the times of their runs', async (stage) => {
    await stage.ready()
    for (const name of ['t', 'u', 'idle']) await stage.trigger(aTrigger(name))
    await stage.tick('t', t0 + 4 * minute)
    await stage.tick('u', t0 + minute)
    const [claim] = await stage.claim('w', t0 + 4 * minute, { slots: 1 })
    if (claim === undefined) throw new Error('a claim was expected')
    const [startedAt, finishedAt] = [t0 + 4 * minute + 1, t0 + 4 * minute + 9]
    await stage.finish('w', claim, { outcome: outcomes.failed, startedAt, at: finishedAt })
    const recent = await stage.store.recentRuns({ triggers: ['t', 'idle', 'u', 'nobody'], each: 2 })
    expect(recent.map(({ trigger, dueAt }) => [trigger, (dueAt - t0) / minute])).toEqual([
      ['t', 4],
      ['t', 3],
      ['u', 1],
    ])
    const window = { fromAt: t0 + minute, untilAt: t0 + 3 * minute, limit: 9 }
    const lanes = await stage.store.lanes({ triggers: ['t', 'u'], ...window })
    expect(lanes.map(({ trigger, dueAt }) => [trigger, (dueAt - t0) / minute])).toEqual([
      ['t', 1],
      ['t', 2],
      ['t', 3],
      ['u', 1],
    ])
    const ended = lanes.find(({ id }) => id === claim.run)
    expect(ended).toMatchObject({ state: 'failed', startedAt, finishedAt })
    expect(await stage.store.lanes({ triggers: ['t', 'u'], ...window, limit: 1 })).toHaveLength(2)
    expect(await stage.store.lanes({ triggers: [], ...window })).toEqual([])
  })

  law('a tally counts the runs of each bucket by state', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.tick('t', t0 + 5 * minute)
    for (const claim of await stage.claim('w', t0 + 5 * minute, { slots: 2 })) {
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 5 * minute })
    }
    const request = { triggers: ['t', 'nobody'], fromAt: t0, untilAt: t0 + 5 * minute, bucketMs: 2 * minute }
    const counted = await stage.store.tally(request)
    const sum = (state: string): number =>
      counted.filter((row) => row.state === state).reduce((all, { runs }) => all + runs, 0)
    expect([sum('done'), sum('pending')]).toEqual([2, 2])
    expect(counted.map(({ bucketAt }) => (bucketAt - t0) / minute)).toEqual([0, 2, 2, 4])
  })

  law(
    'pages of the ledger have the newest ranges first, and are filtered by trigger, reason and time',
    async (stage) => {
      await stage.jobs([aJob('work')])
      const skip = { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 } as const
      for (const name of ['t', 'u']) await stage.trigger(aTrigger(name, { catchUp: skip }))
      await stage.tick('t', t0 + 3 * minute + 1)
      await stage.tick('u', t0 + 3 * minute + 1)
      await stage.tick('t', t0 + 6 * minute + 1)
      const all = await stage.store.ledgerPage({ limit: 9 })
      expect(all.map(({ trigger }) => trigger)).toEqual(['t', 'u', 't'])
      expect(all.every(({ reason }) => reason === 'missed')).toBe(true)
      const [first] = await stage.store.ledgerPage({ limit: 1 })
      expect(first).toEqual(all[0])
      expect(await stage.store.ledgerPage({ limit: 9, before: all[0]?.seq ?? 0 })).toEqual(all.slice(1))
      expect(await stage.store.ledgerPage({ limit: 9, triggers: ['u', 'nobody'] })).toEqual([all[1]])
      expect(await stage.store.ledgerPage({ limit: 9, triggers: ['t', 'u'] })).toEqual(all)
      const since = { fromAt: t0 + 3 * minute + 2 }
      expect(await stage.store.ledgerPage({ limit: 9, ...since })).toEqual(all.slice(0, 1))
      expect(await stage.store.ledgerPage({ limit: 9, untilAt: since.fromAt })).toEqual(all.slice(1))
      expect(await stage.store.ledgerPage({ limit: 9, reasons: ['paused', 'missed'] })).toEqual(all)
      expect(await stage.store.ledgerPage({ limit: 9, reasons: ['paused'] })).toEqual([])
    },
  )

  law('runs are counted as they are listed, up to the requested number', async (stage) => {
    await stage.ready()
    await stage.jobs([aJob('work'), aJob('other')])
    const runs = ['a', 'b', 'c', 'd'].map((label, i) =>
      aRun(label, { dueAt: t0 + i, job: i === 3 ? 'other' : 'work', trigger: i < 2 ? 't' : undefined }),
    )
    await stage.enqueue(runs)
    await stage.claim('w', t0 + 9, { slots: 1 })
    const count = async (filter: object, atMost = 9): Promise<number> => {
      const counted = await stage.store.countRuns(filter, atMost)
      expect(counted.isCapped).toBe((await stage.store.runs({ ...filter, limit: 99 })).length > atMost)
      return counted.count
    }
    expect(await count({})).toBe(4)
    expect(await count({}, 2)).toBe(2)
    expect(await count({ job: 'work' })).toBe(3)
    expect(await count({ job: 'work' }, 1)).toBe(1)
    expect(await count({ state: 'running' })).toBe(1)
    expect(await count({ state: 'pending' })).toBe(3)
    expect(await count({ trigger: 't' })).toBe(2)
    expect(await count({ state: 'failed' })).toBe(0)
    expect(await count({ sinceAt: t0 + 1, untilAt: t0 + 2 })).toBe(2)
  })

  law('a failed run is troubled until a later one of its trigger and partition is done', async (stage) => {
    await stage.ready()
    const runs = [
      aRun('a1', { trigger: 'a', dueAt: t0 + 1 }),
      aRun('b1', { trigger: 'b', dueAt: t0 + 2, partition: 'x' }),
      aRun('alone', { dueAt: t0 + 3 }),
      aRun('a2', { trigger: 'a', dueAt: t0 + 4 }),
      aRun('b2', { trigger: 'b', dueAt: t0 + 5, partition: 'y' }),
    ]
    await stage.enqueue(runs)
    const claims = await stage.claim('w', t0 + minute)
    const failing = new Set(runs.slice(0, 3).map(({ id }) => id))
    for (const claim of claims.filter(({ run }) => failing.has(run))) {
      await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + minute })
    }
    const ids = async (limit = 9): Promise<string[]> =>
      (await stage.store.troubled({ limit, each: 9 })).runs.map(({ id }) => id)
    const [a1, b1, alone] = runs.map(({ id }) => id)
    expect(await ids()).toEqual([alone, b1, a1])
    expect(await ids(1)).toEqual([alone])
    for (const claim of claims.filter(({ run }) => !failing.has(run))) {
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + minute })
    }
    expect(await ids()).toEqual([alone, b1])
  })

  law('of the troubled runs of one trigger, only the newest unrepaired ones are returned', async (stage) => {
    await stage.ready()
    const noisy = Array.from({ length: 5 }, (_, index) =>
      aRun(`noisy${index}`, { trigger: 'noisy', dueAt: t0 + 10 + index }),
    )
    const runs = [
      aRun('quiet', { trigger: 'quiet', dueAt: t0 + 1 }),
      aRun('x', { trigger: 'noisy', dueAt: t0 + 2, partition: 'x' }),
      aRun('one', { dueAt: t0 + 3 }),
      ...noisy,
      aRun('two', { dueAt: t0 + 20 }),
    ]
    await stage.enqueue(runs)
    for (const claim of await stage.claim('w', t0 + minute, { slots: runs.length })) {
      await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + minute })
    }
    const names = new Map(runs.map((run, index) => [run.id, index]))
    const { runs: found } = await stage.store.troubled({ limit: 9, each: 2 })
    expect(found.map(({ id }) => names.get(id))).toEqual([8, 7, 6, 2, 0])
    expect((await stage.store.troubled({ limit: 3, each: 1 })).runs).toHaveLength(3)
  })

  law('a store that has not looked at all failed runs says so', async (stage) => {
    await stage.ready()
    const oldest = aRun('oldest', { trigger: 'quiet', dueAt: t0 + 1 })
    const others = Array.from({ length: 1000 }, (_, index) =>
      aRun(`noisy${index}`, { trigger: 'noisy', dueAt: t0 + 2 + index }),
    )
    const fail = async (): Promise<void> => {
      const claims = await stage.claim('w', t0 + minute, { slots: others.length })
      const end = { outcome: outcomes.failed, startedAt: t0 + minute, endedAt: t0 + minute }
      await stage.turn(
        'w',
        t0 + minute,
        claims.map(({ run, attempt }) => ({ run, attempt, ...end })),
      )
    }
    await stage.enqueue([oldest])
    await fail()
    const few = await stage.store.troubled({ limit: 9, each: 1 })
    expect([few.runs.map(({ id }) => id), few.lookedAt]).toEqual([[oldest.id], undefined])
    await stage.enqueue(others)
    await fail()
    const { runs, lookedAt } = await stage.store.troubled({ limit: 9, each: 1 })
    expect(runs.some(({ id }) => id === oldest.id)).toBe(lookedAt === undefined)
    if (lookedAt !== undefined) expect(lookedAt).toBeLessThan(1 + others.length)
  })

  law('a repaired failed run does not hide an older one of its trigger', async (stage) => {
    await stage.ready()
    const old = aRun('old', { trigger: 'p', dueAt: t0 + 1, partition: 'a' })
    const failing = [
      old,
      ...[2, 3].map((i) => aRun(`b${i}`, { trigger: 'p', dueAt: t0 + i, partition: 'b' })),
    ]
    const good = aRun('good', { trigger: 'p', dueAt: t0 + 4, partition: 'b' })
    await stage.enqueue([...failing, good])
    for (const claim of await stage.claim('w', t0 + minute)) {
      const outcome = claim.run === good.id ? outcomes.done : outcomes.failed
      await stage.finish('w', claim, { outcome, at: t0 + minute })
    }
    const { runs: found } = await stage.store.troubled({ limit: 9, each: 2 })
    expect(found.map(({ id }) => id)).toEqual([old.id])
  })
}

/** The names of all triggers, read page by page. */
async function pagesOf(stage: Stage, request: TriggersPage): Promise<string[]> {
  const names: string[] = []
  let after: TriggersPage['after']
  for (;;) {
    const page = await stage.store.triggersPage({ ...request, after })
    const last = page.at(-1)
    if (last === undefined) return names
    names.push(...page.map(({ trigger }) => trigger.name))
    after = { name: last.trigger.name, nextAt: last.nextAt }
  }
}
