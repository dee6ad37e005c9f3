import { expect } from 'vitest'
import type { Claim } from '../../port.js'
import { aJob, aRun, minute, outcomes, t0, type Law } from '../stage.js'

/** Which runs a worker claims, and in which order. */
export function claimLaws(law: Law): void {
  law('runs are claimed by priority, then by `runAt`, then in the order of insertion', async (stage) => {
    await stage.ready()
    const runs = [
      aRun('third', { runAt: t0 - 1 }),
      aRun('fourth'),
      aRun('fifth'),
      aRun('first', { priority: 5, runAt: t0 - 1 }),
      aRun('second', { priority: 5 }),
      aRun('last', { priority: -1, runAt: t0 - 9 }),
    ]
    await stage.enqueue(runs)
    const claims = await stage.claim('w', t0)
    const labels = ['first', 'second', 'third', 'fourth', 'fifth', 'last']
    expect(claims.map(({ run }) => run)).toEqual(labels.map((label) => aRun(label).id))
  })

  law('a claim contains everything that a handler needs, under the next attempt number', async (stage) => {
    await stage.ready()
    await stage.enqueue([
      aRun('r', { payload: { list: [1, 'two', null] }, partition: '2026-01-05', trigger: 't' }),
    ])
    const claim = await stage.claimOne('w', t0 + 5)
    expect(claim).toEqual({
      run: aRun('r').id,
      job: 'work',
      trigger: 't',
      attempt: 1,
      failures: 0,
      crashes: 0,
      dueAt: t0,
      partition: '2026-01-05',
      payload: { list: [1, 'two', null] },
      claimedAt: t0 + 5,
    })
    expect(await stage.run(claim.run)).toMatchObject({
      state: 'running',
      worker: 'w',
      attempt: 1,
      claimedAt: t0 + 5,
    })
  })

  law('nothing is claimed before its `runAt`, and all of it at that instant', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r', { runAt: t0 + minute })])
    expect(await stage.nextRunAt('w', t0)).toBe(t0 + minute)
    expect(await stage.claim('w', t0 + minute - 1)).toEqual([])
    expect(await stage.claim('w', t0 + minute)).toHaveLength(1)
    expect(await stage.nextRunAt('w', t0 + minute)).toBeUndefined()
  })

  law('only runs of the requested jobs are claimed', async (stage) => {
    await stage.jobs([aJob('a'), aJob('b')])
    await stage.worker('w')
    await stage.enqueue([aRun('1', { job: 'a' }), aRun('2', { job: 'b' })])
    const claims = await stage.claim('w', t0, { jobs: ['b'] })
    expect(claims.map(({ job }) => job)).toEqual(['b'])
    expect(await stage.claim('w', t0, { jobs: [] })).toEqual([])
  })

  law('a turn claims no more than its slots and returns whether more runs are ready', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1'), aRun('2'), aRun('3')])
    const claimRequest = { jobs: ['work'], slots: 2, prefetch: 0 }
    const first = await stage.store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
    expect([first.claims.length, first.more]).toEqual([2, true])
    const second = await stage.store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
    expect([second.claims.length, second.more]).toEqual([1, false])
  })

  law(
    'runs with a crash are not prefetched, and those with a slot or of a limited queue only as many as asked for',
    async (stage) => {
      await stage.jobs([aJob('work'), aJob('limited', { queue: 'q' })], [{ name: 'q', concurrency: 9 }])
      await stage.worker('w')
      await stage.enqueue([aRun('lost')])
      const lost = await stage.claimOne('w', t0)
      await stage.finish('w', lost, { outcome: outcomes.lost(t0), at: t0 })
      await stage.enqueue([
        aRun('slotted', { slots: [{ key: 'trigger:t', limit: 1 }] }),
        aRun('in limited', { job: 'limited' }),
        aRun('plain 1'),
        aRun('plain 2'),
        aRun('plain 3'),
      ])
      const prefetch = await stage.claim('w', t0, { slots: 0, prefetch: 2 })
      expect(prefetch.map(({ run }) => run)).toEqual([aRun('plain 1').id, aRun('plain 2').id])
      const one = await stage.claim('w', t0, { slots: 0, prefetch: 1, prefetchLimited: 1 })
      expect(one).toMatchObject([{ run: aRun('slotted').id, isLimited: true }])
      const two = await stage.claim('w', t0, { slots: 0, prefetch: 9, prefetchLimited: 9 })
      expect(two.map(({ run, isLimited }) => [run, isLimited])).toEqual([
        [aRun('in limited').id, true],
        [aRun('plain 3').id, undefined],
      ])
      const rest = await stage.claim('w', t0, { slots: 9, prefetch: 9, prefetchLimited: 9 })
      expect(rest.map(({ run }) => run)).toEqual([aRun('lost').id])
    },
  )

  law('prefetched runs hold their slots and places in a queue, so every limit stays exact', async (stage) => {
    await stage.jobs(
      [aJob('work', { concurrency: 3 }), aJob('queued', { queue: 'q' })],
      [{ name: 'q', concurrency: 2 }],
    )
    await stage.worker('w')
    await stage.worker('other')
    const slots = [{ key: 'job:work', limit: 3 }]
    await stage.enqueue(['1', '2', '3', '4', '5'].map((label) => aRun(label, { slots })))
    await stage.enqueue(['6', '7', '8'].map((label) => aRun(label, { job: 'queued' })))
    const wanted = { slots: 1, prefetch: 9, prefetchLimited: 9 }
    const held = await stage.claim('w', t0, wanted)
    expect(held.map(({ run }) => run)).toEqual(['1', '2', '3', '6', '7'].map((label) => aRun(label).id))
    expect(await stage.claim('other', t0, wanted)).toEqual([])
    for (const at of [1, 4]) await stage.finish('w', held[at] as Claim, { outcome: outcomes.done, at: t0 })
    const next = await stage.claim('other', t0, wanted)
    expect(next.map(({ run }) => run)).toEqual(['4', '8'].map((label) => aRun(label).id))
  })

  law('a limited queue never exceeds its limit, over all workers and all its jobs', async (stage) => {
    await stage.jobs(
      [aJob('a', { queue: 'q' }), aJob('b', { queue: 'q' }), aJob('c')],
      [{ name: 'q', concurrency: 2 }],
    )
    await stage.worker('w1')
    await stage.worker('w2')
    const runs = ['1', '2', '3', '4'].map((label, i) => aRun(label, { job: i % 2 === 0 ? 'a' : 'b' }))
    await stage.enqueue([...runs, aRun('free', { job: 'c' })])
    const [first] = await stage.claim('w1', t0, { slots: 1 })
    const others = await stage.claim('w2', t0)
    expect(others.map(({ run }) => run)).toEqual([aRun('2').id, aRun('free').id])
    expect(await stage.claim('w1', t0)).toEqual([])
    await stage.finish('w1', first ?? { run: '', attempt: 0 }, { outcome: outcomes.done, at: t0 })
    expect((await stage.claim('w2', t0)).map(({ run }) => run)).toEqual([aRun('3').id])
  })

  law('nothing is claimed from a paused queue, nor while claiming is held', async (stage) => {
    await stage.jobs([aJob('a', { queue: 'q' }), aJob('b')])
    await stage.worker('w')
    await stage.enqueue([aRun('1', { job: 'a' }), aRun('2', { job: 'b' })])
    for (const target of ['all', 'switch:pipeline', 'switch:worker'] as const) {
      await stage.store.hold({ target, now: t0, actor: 'me', note: '' })
      expect(await stage.claim('w', t0)).toEqual([])
      await stage.store.release({ target, now: t0 + 1, catchUp: false })
    }
    await stage.store.hold({ target: 'queue:q', now: t0, untilAt: t0 + minute, actor: 'me', note: '' })
    await stage.store.hold({ target: 'switch:scheduler', now: t0, actor: 'me', note: '' })
    expect((await stage.claim('w', t0 + 2)).map(({ job }) => job)).toEqual(['b'])
    expect((await stage.claim('w', t0 + minute)).map(({ job }) => job)).toEqual(['a'])
  })

  law('G5: workers that claim concurrently never share a run', async (stage) => {
    await stage.ready()
    const workers = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8']
    for (const worker of workers) await stage.worker(worker)
    await stage.enqueue(Array.from({ length: 50 }, (_, i) => aRun(`r${i}`)))
    const claimRequest = { jobs: ['work'], slots: 7, prefetch: 1 }
    const answers = await Promise.all(
      workers.map((worker) => stage.store.turn({ worker, now: t0, finished: [], claimRequest })),
    )
    const claimed = answers.flatMap(({ claims }) => claims.map(({ run }) => run))
    expect(claimed).toHaveLength(50)
    expect(new Set(claimed).size).toBe(50)
  })

  law('a turn of an unknown worker is expired and claims nothing', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    const claimRequest = { jobs: ['work'], slots: 1, prefetch: 1 }
    const answer = await stage.store.turn({ worker: 'nobody', now: t0, finished: [], claimRequest })
    expect(answer).toMatchObject({ expired: true, claims: [], more: false })
    expect(await stage.states([aRun('r')])).toEqual(['pending'])
  })
}
