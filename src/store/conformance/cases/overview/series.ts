import { expect } from 'vitest'
import { binOf, sizeOf } from '../../../../kernel/statistics/histogram.js'
import { aJob, aRun, aRunOf, minute, outcomes, t0, type Law } from '../../stage.js'

const hour = 60 * minute

/** Counting ends, and finding late runs. */
export function seriesLaws(law: Law): void {
  law('a series counts ends by bucket and state, with durations and delays', async (stage) => {
    await stage.ready()
    await stage.jobs([aJob('work'), aJob('other')])
    await stage.enqueue([
      aRun('a', { dueAt: t0 }),
      aRun('b', { dueAt: t0, job: 'other' }),
      aRun('c', { dueAt: t0 }),
      aRun('waits', { dueAt: t0 + 9 * hour, runAt: t0 + 9 * hour }),
    ])
    const claims = await stage.claim('w', t0 + 30, { jobs: ['work', 'other'] })
    const ends = [hour - 1, hour, hour + 1]
    for (const [i, claim] of claims.entries()) {
      const outcome = claim.job === 'other' ? outcomes.failed : outcomes.done
      await stage.finish('w', claim, { outcome, startedAt: t0 + 40, at: t0 + (ends[i] ?? 0) })
    }
    const all = await stage.store.series({ fromAt: t0, untilAt: t0 + 9 * hour, bucketMs: hour })
    expect(all.reduce((sum, { runs }) => sum + runs, 0)).toBe(3)
    expect(all.every(({ job }) => job === undefined)).toBe(true)
    expect([...new Set(all.map(({ bucketAt }) => (bucketAt - t0) / hour))]).toEqual([0, 1])
    for (const { runs, durations, lateness } of all) {
      expect([sizeOf(durations), durations[binOf(hour - 40)]]).toEqual([runs, runs])
      expect([sizeOf(lateness), lateness[binOf(40)]]).toEqual([runs, runs])
    }
    const byJob = await stage.store.series({
      fromAt: t0,
      untilAt: t0 + 9 * hour,
      bucketMs: 9 * hour,
      byJob: true,
    })
    expect(byJob.map(({ job, state, runs }) => [job, state, runs])).toEqual([
      ['other', 'failed', 1],
      ['work', 'done', 2],
    ])
    const one = { fromAt: t0 + hour, untilAt: t0 + hour + 1, bucketMs: hour }
    expect(await stage.store.series(one)).toHaveLength(1)
    expect(await stage.store.series({ ...one, jobs: ['nobody'] })).toEqual([])
    expect(await stage.store.series({ ...one, untilAt: one.fromAt })).toEqual([])
  })

  law(
    'a series has no duration of a run that never started, and no delay of a retried one',
    async (stage) => {
      await stage.ready()
      const [cancelled, retried] = [aRun('cancelled'), aRun('retried')]
      await stage.enqueue([cancelled])
      await stage.store.cancel({ run: cancelled.id, now: t0 + 1, reason: 'no' })
      await stage.enqueue([retried])
      const [first] = await stage.claim('w', t0 + 2)
      if (first === undefined) throw new Error('a claim was expected')
      await stage.finish('w', first, { outcome: outcomes.failed, startedAt: t0 + 3, at: t0 + 4 })
      await stage.store.retry({ run: retried.id, now: t0 + 5 })
      const [second] = await stage.claim('w', t0 + 6)
      if (second === undefined) throw new Error('a claim was expected')
      await stage.finish('w', second, { outcome: outcomes.done, startedAt: t0 + 7, at: t0 + 8 })
      const found = await stage.store.series({ fromAt: t0, untilAt: t0 + 9, bucketMs: 9 })
      expect(
        found.map(({ state, runs, durations, lateness }) => [
          state,
          runs,
          sizeOf(durations),
          sizeOf(lateness),
        ]),
      ).toEqual([
        ['cancelled', 1, 0, 0],
        ['done', 1, 1, 0],
      ])
    },
  )

  law('state entries are counted by a text of their values', async (stage) => {
    const entry = (name: string, item: string, state: string | undefined) =>
      ({ kind: 'partition', name, item, value: state === undefined ? {} : { state, at: 1 } }) as const
    const changes = [
      entry('daily', '', 'done'),
      entry('daily', '2026-01-01', 'done'),
      entry('daily', '2026-01-02', 'failed'),
      entry('daily', '2026-01-03', undefined),
      entry('other', '2026-01-01', 'failed'),
    ]
    expect(await stage.store.changeState({ changes, now: t0 })).toBe('changed')
    const tally = async (name: string): Promise<object> =>
      Object.fromEntries(await stage.store.stateTally({ kind: 'partition', name, field: 'state' }))
    expect(await tally('daily')).toEqual({ done: 2, failed: 1, '': 1 })
    expect(await tally('other')).toEqual({ failed: 1 })
    expect(await tally('nobody')).toEqual({})
  })

  law('late runs are the pending runs that should have started, the longest overdue first', async (stage) => {
    await stage.ready()
    const limited = aJob('work', { concurrency: 1 })
    await stage.jobs([limited, aJob('other')])
    const runs = [
      aRunOf(limited, 'slot', { runAt: t0 }),
      aRunOf(limited, 'blocked', { runAt: t0 + 1 }),
      aRun('urgent', { job: 'other', runAt: t0 + 3, priority: 9 }),
      aRun('plain', { job: 'other', runAt: t0 + 2 }),
      aRun('later', { job: 'other', runAt: t0 + 2 * minute, dueAt: t0 + 2 * minute }),
    ]
    const ids = Object.fromEntries(runs.map(({ id }, i) => [id, i]))
    await stage.enqueue(runs)
    await stage.claim('w', t0 + 5, { slots: 1, jobs: ['work'] })
    const late = async (now: number, byMs: number, limit = 9): Promise<unknown[]> =>
      (await stage.store.late({ now, byMs, limit })).map(({ id }) => ids[id])
    expect(await late(t0 + minute, 10)).toEqual([1, 3, 2])
    expect(await late(t0 + minute, minute - 2)).toEqual([1, 3])
    expect(await late(t0 + minute, 10, 1)).toEqual([1])
    expect(await late(t0 + minute, 2 * minute)).toEqual([])
    expect(await late(t0 + 9 * minute, 0)).toEqual([1, 3, 2, 4])
    const [queue] = await stage.store.queues()
    expect(queue).toMatchObject({ ready: 2, oldestReadyAt: t0 + 2, delayed: 1, blocked: 1, running: 1 })
  })

  law('late runs of many jobs and priorities have one order, however few are requested', async (stage) => {
    const jobs = ['a', 'b', 'c', 'd']
    await stage.jobs(jobs.map((name) => aJob(name)))
    const runs = Array.from({ length: 40 }, (_, i) =>
      aRun(`run${i}`, {
        job: jobs[i % 4] as string,
        priority: (i * 7) % 3,
        runAt: t0 + ((i * 11) % 5),
        dueAt: t0,
      }),
    )
    await stage.enqueue(runs)
    const all = await stage.store.late({ now: t0 + minute, byMs: 0, limit: 99 })
    const expected = runs.toSorted((one, other) => one.runAt - other.runAt).map(({ id }) => id)
    expect(all.map(({ id }) => id)).toEqual(expected)
    for (const limit of [1, 2, 3, 7, 13]) {
      const first = await stage.store.late({ now: t0 + minute, byMs: 0, limit })
      expect(first.map(({ id }) => id)).toEqual(expected.slice(0, limit))
    }
  })
}
