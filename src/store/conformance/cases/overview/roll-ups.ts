import { expect } from 'vitest'
import { forgetDays, rollUp, rolledUntil } from '../../../../engine/upkeep/roll-up.js'
import { rolledSeries } from '../../../../engine/upkeep/rolled-series.js'
import type { Instant } from '../../../../time/instant.js'
import type { Store } from '../../../port.js'
import { aRun, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

const hour = 60 * minute
const day = 24 * hour
const month = { fromAt: t0, untilAt: t0 + 30 * day, bucketMs: hour }

/** Roll-ups, which upkeep writes with the verbs of the port. */
export function rollUpLaws(law: Law): void {
  law(
    'rolled-up hours have the numbers of their runs, and keep them when the runs are pruned',
    async (stage) => {
      await stage.ready()
      await end(stage, 'a', t0 + 5 * minute)
      await end(stage, 'b', t0 + hour)
      await end(stage, 'c', t0 + 2 * day)
      await end(stage, 'open', t0 + 2 * day + hour)
      const asked = [
        month,
        { ...month, byJob: true },
        { ...month, bucketMs: day },
        { ...month, jobs: ['work'] },
      ]
      const read = (): Promise<unknown> => Promise.all(asked.map((one) => rolledSeries(stage.store, one)))
      const before = await read()
      expect(before).toEqual(await Promise.all(asked.map((one) => stage.store.series(one))))
      await rollAll(stage.store, t0 + 2 * day + hour + 30 * minute)
      expect(await rolledUntil(stage.store)).toBe(t0 + 2 * day + hour)
      expect(await read()).toEqual(before)
      await stage.store.prune({ before: t0 + 2 * day + hour, limit: 100, now: t0 + 3 * day })
      expect(await stage.store.counts()).toMatchObject({ done: 1 })
      expect(await read()).toEqual(before)
      // A run counts in the hour in which it ended, whenever it was due.
      await end(stage, 'late', t0 + 2 * day + hour + 1, t0)
      await rollAll(stage.store, t0 + 4 * day)
      const byDay = await rolledSeries(stage.store, { ...month, bucketMs: day })
      expect(byDay.map(({ bucketAt, runs }) => [(bucketAt - t0) / day, runs])).toEqual([
        [0, 2],
        [2, 3],
      ])
    },
  )

  law('days are removed when they are old enough, and not before', async (stage) => {
    await stage.ready()
    await end(stage, 'a', t0 + minute)
    await end(stage, 'b', t0 + day + minute)
    await rollAll(stage.store, t0 + 3 * day)
    const before = await rolledSeries(stage.store, month)
    expect(await forgetDays(stage.store, t0 + 400 * day)).toBe(0)
    expect(await rolledSeries(stage.store, month)).toEqual(before)
    // The entry of the job, and the one over all jobs.
    expect(await forgetDays(stage.store, t0 + 401 * day)).toBe(2)
    expect(await rolledUntil(stage.store)).toBe(t0 + 3 * day - hour)
    await stage.store.prune({ before: t0 + 2 * day, limit: 9, now: t0 + 401 * day })
    expect(await rolledSeries(stage.store, month)).toEqual(before.slice(1))
  })

  law('an hour is rolled up once, even by two processes and after a kill in between', async (stage) => {
    await stage.ready()
    const jobs = Array.from({ length: 250 }, (_, i) => `job-${i}`)
    await stage.enqueue(jobs.map((job) => aRun(job, { job })))
    const claims = await stage.claim('w', t0, { jobs, slots: 250 })
    const ended = { outcome: outcomes.done, startedAt: t0, endedAt: t0 + minute }
    await stage.turn(
      'w',
      t0 + minute,
      claims.map(({ run, attempt }) => ({ run, attempt, ...ended })),
    )
    const before = await stage.store.series({ ...month, byJob: true })
    const now = t0 + 2 * hour
    await expect(rollUp(dyingAfter(stage.store, 1), now)).rejects.toThrow('killed')
    expect(await rolledUntil(stage.store)).toBe(t0)
    await Promise.all([rollAll(stage.store, now), rollAll(stage.store, now)])
    await rollAll(stage.store, now)
    expect(await rolledUntil(stage.store)).toBe(t0 + hour)
    await stage.store.prune({ before: t0 + day, limit: 1000, now: t0 + day })
    expect(await rolledSeries(stage.store, { ...month, byJob: true })).toEqual(before)
    const [all] = await rolledSeries(stage.store, month)
    expect(all).toMatchObject({ state: 'done', runs: 250, bucketAt: t0 })
  })
}

/** Ends a run that was due some time before. */
async function end(stage: Stage, label: string, at: Instant, dueAt = at - 1000): Promise<void> {
  await stage.store.heartbeat({ worker: 'w', now: at - 1, leaseMs: 60 * day })
  await stage.enqueue([aRun(label, { dueAt })], at - 1)
  const [claim] = await stage.claim('w', at - 1)
  if (claim === undefined) throw new Error('a claim was expected')
  expect(await stage.finish('w', claim, { outcome: outcomes.done, startedAt: at - 500, at })).toBe('stored')
}

async function rollAll(store: Store, now: Instant): Promise<void> {
  while ((await rollUp(store, now)) === 'more');
}

/** The same store, for a process that dies after a number of changes. */
function dyingAfter(store: Store, changes: number): Store {
  let left = changes
  const changeState: Store['changeState'] = async (request) => {
    if (left-- <= 0) throw new Error('killed')
    return await store.changeState(request)
  }
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'changeState') return changeState
      const value = Reflect.get(target, key) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
