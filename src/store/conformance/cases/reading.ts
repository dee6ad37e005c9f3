import { expect } from 'vitest'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law } from '../stage.js'

/** Reads. */
export function readingLaws(law: Law): void {
  law('a run keeps its labels in every state', async (stage) => {
    await stage.ready()
    const labels = { job_id: '96b0037ff184', run_id: 'morning_20260105_0900_96b0037ff184' }
    const [labelled, plain] = [aRun('a', { labels }), aRun('b')]
    await stage.enqueue([labelled, plain])
    for (const claim of await stage.claim('w', t0)) {
      await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 })
    }
    await stage.reopen()
    expect((await stage.run(labelled.id)).labels).toEqual(labels)
    expect((await stage.run(plain.id)).labels).toBeUndefined()
  })

  law('runs are returned newest first by id, in pages that neither repeat nor miss one', async (stage) => {
    const runs = Array.from({ length: 25 }, (_, i) => aRun(`r${i}`, { dueAt: t0 + (i % 7) * minute }))
    await stage.enqueue(runs)
    const expected = runs
      .map(({ id }) => id)
      .toSorted()
      .toReversed()
    const seen: string[] = []
    for (;;) {
      const page = await stage.store.runs({ limit: 10, before: seen.at(-1) })
      if (page.length === 0) break
      seen.push(...page.map(({ id }) => id))
    }
    expect(seen).toEqual(expected)
  })

  law('runs are filtered by state, job, trigger and due instant, both bounds included', async (stage) => {
    await stage.jobs([aJob('work'), aJob('other')])
    await stage.worker('w')
    await stage.enqueue([
      aRun('a', { dueAt: t0 + 1, trigger: 't' }),
      aRun('b', { dueAt: t0 + 2, trigger: 't', job: 'other' }),
      aRun('c', { dueAt: t0 + 3 }),
    ])
    await stage.claim('w', t0 + 3, { slots: 1 })
    const ids = async (filter: object): Promise<string[]> =>
      (await stage.store.runs({ limit: 9, ...filter })).map(({ id }) => id)
    const [a, b, c] = [
      aRun('a', { dueAt: t0 + 1 }).id,
      aRun('b', { dueAt: t0 + 2 }).id,
      aRun('c', { dueAt: t0 + 3 }).id,
    ]
    expect(await ids({ state: 'running' })).toEqual([a])
    expect(await ids({ state: 'pending' })).toEqual([c, b])
    expect(await ids({ job: 'other' })).toEqual([b])
    expect(await ids({ trigger: 't' })).toEqual([b, a])
    expect(await ids({ sinceAt: t0 + 2, untilAt: t0 + 2 })).toEqual([b])
    expect(await ids({ sinceAt: t0 + 2, before: c, limit: 1 })).toEqual([b])
    expect(await ids({ state: 'pending', sinceAt: t0 + 2.5 })).toEqual([c])
    expect(await ids({ state: 'pending', untilAt: t0 + 2 })).toEqual([b])
    expect(await ids({ job: 'work', sinceAt: t0 + 2 })).toEqual([c])
    expect(await ids({ job: 'work', untilAt: t0 + 2 })).toEqual([a])
    expect(await ids({ sinceAt: -1, untilAt: Number.MAX_SAFE_INTEGER })).toEqual([c, b, a])
    expect(await ids({ sinceAt: Number.MAX_SAFE_INTEGER })).toEqual([])
    expect(await ids({ untilAt: -1 })).toEqual([])
  })

  law('a run shows its concurrency limits, and the one it waits for', async (stage) => {
    await stage.ready()
    const slots = [{ key: 'trigger:t', limit: 1 }]
    const [first, second, plain] = [aRun('a', { slots }), aRun('b', { slots }), aRun('c')]
    await stage.enqueue([first, second, plain])
    await stage.reopen()
    expect(await stage.run(first.id)).toMatchObject({ slots, waitsFor: undefined })
    expect(await stage.run(second.id)).toMatchObject({ slots, waitsFor: 'trigger:t' })
    expect((await stage.run(plain.id)).slots).toEqual([])
  })

  law('a run is found by its id, among other ids, and by a prefix of its id', async (stage) => {
    await stage.enqueue([aRun('a'), aRun('b', { dueAt: t0 + 40 * 24 * 60 * minute })])
    const { id } = aRun('a')
    expect(await stage.store.run(id)).toMatchObject({ id })
    expect(await stage.store.run('absent')).toBeUndefined()
    expect(await stage.store.runsByPrefix(id.slice(0, 14), 9)).toMatchObject([{ id }])
    expect(await stage.store.runsByPrefix('', 1)).toHaveLength(1)
    expect(await stage.store.runsByPrefix('zzzz', 9)).toEqual([])
    const [b] = [aRun('b', { dueAt: t0 + 40 * 24 * 60 * minute }).id]
    const found = await stage.store.runsById([b, 'absent', id, b])
    expect(found.map((run) => run.id).toSorted()).toEqual([id, b].toSorted())
    expect(found.find((run) => run.id === id)).toEqual(await stage.store.run(id))
    expect(await stage.store.runsById([])).toEqual([])
  })

  law('counts are by the public state', async (stage) => {
    await stage.ready()
    const slots = [{ key: 'g', limit: 1 }]
    const runs = [
      aRun('later', { runAt: t0 + minute, priority: -1 }),
      aRun('slot 1', { slots, priority: -1 }),
      aRun('slot 2', { slots, priority: -1 }),
      ...['1', '2', '3', '4'].map((label) => aRun(label)),
    ]
    await stage.enqueue(runs)
    const [one, two, three] = await stage.claim('w', t0, { slots: 4 })
    if (one === undefined || two === undefined || three === undefined) throw new Error('claims were expected')
    await stage.finish('w', one, { outcome: outcomes.done, at: t0 })
    await stage.finish('w', two, { outcome: outcomes.failed, at: t0 })
    await stage.finish('w', three, { outcome: outcomes.cancelled, at: t0 })
    expect(await stage.store.counts()).toEqual({ pending: 3, running: 1, done: 1, failed: 1, cancelled: 1 })
  })

  law(
    'the instants of a trigger are those of its scheduled runs, oldest first, up to the limit',
    async (stage) => {
      await stage.jobs([aJob('work')])
      await stage.trigger(aTrigger('t'))
      await stage.trigger(aTrigger('other'))
      await stage.tick('other', t0 + 4 * minute)
      const { runs } = await stage.tick('t', t0 + 4 * minute)
      await stage.enqueue([aRun('by hand', { trigger: 't', origin: 'manual', dueAt: t0 + 2 * minute })])
      const window = { trigger: 't', fromAt: t0 + 2 * minute, untilAt: t0 + 4 * minute }
      const expected = runs.slice(1).map(({ dueAt, id }) => ({ dueAt, id, state: 'pending' }))
      expect(await stage.store.runInstants({ ...window, limit: 9 })).toEqual(expected)
      expect(await stage.store.runInstants({ ...window, limit: 2 })).toEqual(expected.slice(0, 2))
      expect(await stage.store.runInstants({ ...window, trigger: 'nobody', limit: 2 })).toEqual([])
    },
  )

  law('a store returns copies: changing them changes nothing in the store', async (stage) => {
    await stage.ready()
    const payload = { list: [1, 2] }
    await stage.enqueue([aRun('r', { payload })])
    payload.list.push(3)
    const claim = await stage.claimOne('w', t0)
    expect(claim.payload).toEqual({ list: [1, 2] })
    const given = claim.payload as { list: number[] }
    given.list.push(4)
    expect((await stage.run(claim.run)).payload).toEqual({ list: [1, 2] })
  })

  law('every JSON value is returned unchanged', async (stage) => {
    await stage.ready()
    const values = [null, false, 0, '', 'ünï\u0000 "x"', [], {}, { a: { b: [null, 1e21, -0.5] } }]
    for (const [i, payload] of values.entries()) {
      await stage.enqueue([aRun(`v${i}`, { payload })])
      const claim = await stage.claimOne('w', t0)
      expect(claim.payload).toEqual(payload)
      await stage.finish('w', claim, { outcome: { end: 'done', state: 'done', result: payload }, at: t0 })
      expect((await stage.run(claim.run)).result).toEqual(payload)
    }
  })
}
