import { expect } from 'vitest'
import { forgetFreeKeys } from '../../../../engine/upkeep/forget-free-keys.js'
import type { Job } from '../../../../kernel/job/job.js'
import type { NewRun } from '../../../../kernel/run/run.js'
import type { Instant } from '../../../../time/instant.js'
import type { Claim, TurnAnswer } from '../../../port.js'
import { aJob, aRun, aRunOf, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

const second = 1000
/** One start every ten seconds. */
const slow = { max: 6, perMs: minute, burst: 1 }

async function limited(stage: Stage, given: Partial<Job> = {}): Promise<Job> {
  const job = aJob('work', { limit: slow, ...given })
  await stage.jobs([job, aJob('other')])
  await stage.worker('w')
  return job
}

function labelsOf(claims: readonly Claim[]): unknown[] {
  return claims.map(({ payload }) => payload)
}

/** How many attempts of a job may start in a period. */
export function rateLimitLaws(law: Law): void {
  law(
    'starts are spaced over all workers, and the turn returns when the next one may start',
    async (stage) => {
      await limited(stage)
      await stage.worker('w2')
      await stage.enqueue([1, 2, 3].map((i) => aRun(`r${i}`, { payload: i })))
      const asked = { jobs: ['work', 'other'], slots: 10, prefetch: 5 }
      const turn = await stage.store.turn({ worker: 'w', now: t0, finished: [], claimRequest: asked })
      expect(labelsOf(turn.claims)).toEqual([1])
      expect(turn).toMatchObject({ more: false, nextRunAt: t0 + 10 * second })
      expect(await stage.claim('w2', t0 + 10 * second - 1)).toEqual([])
      expect(labelsOf(await stage.claim('w2', t0 + 10 * second))).toEqual([2])
      // A late start delays the following ones: two starts are never closer than the spacing.
      expect(labelsOf(await stage.claim('w', t0 + 25 * second))).toEqual([3])
      await stage.enqueue([aRun('r4', { payload: 4 })])
      expect(await stage.claim('w', t0 + 34 * second)).toEqual([])
      await stage.reopen()
      expect(labelsOf(await stage.claim('w', t0 + 35 * second))).toEqual([4])
      expect(await stage.nextRunAt('w', t0 + 35 * second)).toBeUndefined()
    },
  )

  law('after a quiet time a burst may start together, and refills with time', async (stage) => {
    await limited(stage, { limit: { ...slow, burst: 3 } })
    await stage.enqueue(Array.from({ length: 9 }, (_, i) => aRun(`r${i}`)))
    const counts: number[] = []
    for (const at of [0, 5, 10, 15, 29, 60, 61])
      counts.push((await stage.claim('w', t0 + at * second)).length)
    expect(counts).toEqual([3, 0, 1, 0, 1, 3, 0])
  })

  law('each attempt counts, and a change of the limit takes effect immediately', async (stage) => {
    const job = await limited(stage)
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    await stage.finish('w', claim, { outcome: outcomes.again(t0 + 1), at: t0 })
    expect(await stage.claim('w', t0 + 1)).toEqual([])
    await stage.jobs([{ ...job, limit: undefined }])
    expect(await stage.claim('w', t0 + 2)).toHaveLength(1)
  })

  law('other jobs, priorities, concurrency limits and queues still apply', async (stage) => {
    const job = await limited(stage, { limit: { ...slow, burst: 9 }, concurrency: 2 })
    const runs = [0, 1, 2].map((i) => aRunOf(job, `r${i}`, { payload: i, priority: i, runAt: t0 + 1 }))
    await stage.enqueue([...runs, aRun('free', { job: 'other', payload: 'free', priority: 1 })])
    expect(labelsOf(await stage.claim('w', t0 + 1, { slots: 3 }))).toEqual(['free', 1, 0])
    expect(await stage.claim('w', t0 + 2)).toEqual([])
  })

  law('keys take turns: a noisy key does not delay the others', async (stage) => {
    const job = await limited(stage, { concurrencyPerKey: 2 })
    const noisy = Array.from({ length: 20 }, (_, i) =>
      aRunOf(job, `n${i}`, { payload: 'noisy', concurrencyKey: 'n' }),
    )
    await stage.enqueue(noisy)
    const quiet = ['a', 'b'].flatMap((key) =>
      [1, 2].map((i) =>
        aRunOf(job, `${key}${i}`, { payload: key, concurrencyKey: key, runAt: t0 + 1, dueAt: t0 + 1 }),
      ),
    )
    await stage.enqueue(quiet, t0 + 1)
    const started: unknown[] = []
    for (let i = 0; i < 7; i++) {
      const at = t0 + 1 + i * 10 * second
      const [claim] = await stage.claim('w', at)
      started.push(claim?.payload)
      if (claim !== undefined) await stage.finish('w', claim, { outcome: outcomes.done, at })
    }
    expect(started).toEqual(['noisy', 'a', 'b', 'noisy', 'a', 'b', 'noisy'])
  })

  law('a noisy key keeps nobody waiting, also where many of its runs may run at once', async (stage) => {
    const job = await limited(stage, { concurrencyPerKey: 200 })
    const noisy = Array.from({ length: 150 }, (_, i) =>
      aRunOf(job, `n${i}`, { payload: 'noisy', concurrencyKey: 'n' }),
    )
    await stage.enqueue(noisy)
    const quiet = aRunOf(job, 'q', { payload: 'quiet', concurrencyKey: 'q', runAt: t0 + 1, dueAt: t0 + 1 })
    await stage.enqueue([quiet], t0 + 1)
    expect(labelsOf(await stage.claim('w', t0 + 1))).toEqual(['noisy'])
    expect(labelsOf(await stage.claim('w', t0 + 11 * second))).toEqual(['quiet'])
  })

  law('a limit per key counts only the runs of that key', async (stage) => {
    const job = await limited(stage, { limit: undefined, limitPerKey: slow, concurrencyPerKey: 5 })
    const run = (id: string, concurrencyKey?: string): NewRun =>
      aRunOf(job, id, { payload: id, ...(concurrencyKey === undefined ? {} : { concurrencyKey }) })
    await stage.enqueue([run('a1', 'a'), run('a2', 'a'), run('a3', 'a'), run('b1', 'b'), run('x'), run('y')])
    const asked = { jobs: ['work'], slots: 10, prefetch: 5 }
    const turn = await stage.store.turn({ worker: 'w', now: t0, finished: [], claimRequest: asked })
    expect(labelsOf(turn.claims)).toEqual(['a1', 'b1', 'x', 'y'])
    expect(turn).toMatchObject({ more: false, nextRunAt: t0 + 10 * second })
    // Users see them as ready, and they wait for no slot.
    expect(await stage.store.queues()).toMatchObject([{ name: 'default', ready: 2, blocked: 0 }])
    const [waiting] = await stage.store.runs({ state: 'pending', limit: 10 })
    expect(waiting?.waitsFor).toBeUndefined()
    await stage.enqueue([run('b2', 'b')], t0 + second)
    expect(await stage.claim('w', t0 + 9 * second)).toEqual([])
    expect(labelsOf(await stage.claim('w', t0 + 10 * second))).toEqual(['a2', 'b2'])
    await stage.reopen()
    expect(labelsOf(await stage.claim('w', t0 + 20 * second))).toEqual(['a3'])
  })

  law('a run that waits for the limit of its key is found by a worker with many jobs', async (stage) => {
    const job = aJob('work', { limitPerKey: slow })
    const others = Array.from({ length: 40 }, (_, i) => aJob(`other-${i}`))
    await stage.jobs([job, ...others])
    await stage.worker('w')
    await stage.enqueue([1, 2].map((i) => aRunOf(job, `r${i}`, { payload: i, concurrencyKey: 'k' })))
    const jobs = [job, ...others].map(({ name }) => name)
    const claimAt = async (now: Instant): Promise<TurnAnswer> =>
      await stage.store.turn({
        worker: 'w',
        now,
        finished: [],
        claimRequest: { jobs, slots: 10, prefetch: 5 },
      })
    const { claims } = await claimAt(t0)
    expect(labelsOf(claims)).toEqual([1])
    await stage.finish('w', claims[0] as Claim, { outcome: outcomes.done, at: t0 })
    const parked = await claimAt(t0 + 1)
    expect(parked).toMatchObject({ claims: [], nextRunAt: t0 + 10 * second })
    expect(labelsOf((await claimAt(t0 + 10 * second)).claims)).toEqual([2])
  })

  law('a run that waits for the limit of its key returns its slots when it is cancelled', async (stage) => {
    const job = await limited(stage, { limit: undefined, limitPerKey: slow })
    await stage.enqueue([1, 2, 3].map((i) => aRunOf(job, `r${i}`, { payload: i, concurrencyKey: 'k' })))
    const claim = await stage.claimOne('w', t0)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(await stage.claim('w', t0)).toEqual([])
    const waiting = await stage.store.runs({ state: 'pending', limit: 10 })
    const another = waiting.find(({ payload }) => payload === 2)
    await stage.store.cancel({ run: another?.id ?? '', now: t0, reason: 'test' })
    expect(labelsOf(await stage.claim('w', t0 + 10 * second))).toEqual([3])
  })

  law('the jobs of a limited queue share its limit, and take turns', async (stage) => {
    const jobs = ['work', 'other'].map((name) => aJob(name, { queue: 'q' }))
    await stage.jobs(jobs, [{ name: 'q', concurrency: undefined, limit: slow }])
    await stage.worker('w')
    await stage.enqueue([1, 2, 3].map((i) => aRun(`n${i}`, { payload: 'noisy' })))
    await stage.enqueue([aRun('o', { job: 'other', payload: 'other', runAt: t0 + 1 })], t0 + 1)
    const started: unknown[] = []
    for (let i = 0; i < 4; i++)
      started.push(...labelsOf(await stage.claim('w', t0 + 1 + i * 10 * second, { jobs: ['work', 'other'] })))
    expect(started).toEqual(['noisy', 'other', 'noisy', 'noisy'])
    expect(await stage.store.queues()).toMatchObject([{ name: 'q', limit: slow }])
  })

  law('a job with a backlog does not hide the other jobs of a limited queue', async (stage) => {
    const jobs = ['work', 'other', 'third'].map((name) => aJob(name, { queue: 'q' }))
    await stage.jobs(jobs, [{ name: 'q', concurrency: undefined, limit: slow }])
    await stage.worker('w')
    await stage.enqueue(Array.from({ length: 150 }, (_, i) => aRun(`n${i}`, { payload: 'noisy' })))
    const later = ['other', 'third'].map((job) => aRun(job, { job, payload: job, runAt: t0 + 1 }))
    await stage.enqueue(later, t0 + 1)
    const started: unknown[] = []
    for (let i = 0; i < 4; i++) started.push(...labelsOf(await stage.claim('w', t0 + 1 + i * 10 * second)))
    expect(started).toEqual(['noisy', 'other', 'third', 'noisy'])
  })

  law('a job whose own limit is used up does not block its queue for other jobs', async (stage) => {
    const jobs = [aJob('work', { queue: 'q', limit: slow }), aJob('other', { queue: 'q' })]
    await stage.jobs(jobs, [{ name: 'q', concurrency: undefined, limit: { ...slow, burst: 5 } }])
    await stage.worker('w')
    await stage.enqueue(Array.from({ length: 150 }, (_, i) => aRun(`n${i}`, { payload: 'noisy' })))
    const later = [1, 2].map((i) => aRun(`o${i}`, { job: 'other', payload: i, runAt: t0 + 1 }))
    await stage.enqueue(later, t0 + 1)
    expect(new Set(labelsOf(await stage.claim('w', t0 + 1)))).toEqual(new Set([1, 2, 'noisy']))
  })

  law('all limits of a run apply together', async (stage) => {
    const limits = { limit: { ...slow, burst: 2 }, limitPerKey: { ...slow, max: 2 }, concurrencyPerKey: 9 }
    const job = aJob('work', { queue: 'q', ...limits })
    await stage.jobs([job], [{ name: 'q', concurrency: undefined, limit: { ...slow, max: 3, burst: 3 } }])
    await stage.worker('w')
    const keys = ['a', 'a', 'b', 'b', 'c', 'c']
    await stage.enqueue(keys.map((key, i) => aRunOf(job, `r${i}`, { payload: key, concurrencyKey: key })))
    const started: unknown[][] = []
    for (const at of [0, 10, 20, 30, 40, 50]) started.push(labelsOf(await stage.claim('w', t0 + at * second)))
    expect(started).toEqual([['a', 'b'], ['c'], [], ['a'], ['b'], []])
  })

  for (const name of ['limit', 'limitPerKey'] as const) {
    law(`${name}: a raised limit and a clock that was set back make no run wait longer`, async (stage) => {
      const job = await limited(stage, {
        limit: undefined,
        [name]: { max: 1, perMs: 1440 * minute, burst: 1 },
      })
      await stage.enqueue(['r1', 'r2', 'r3'].map((id) => aRunOf(job, id, { concurrencyKey: 'k' })))
      const start = async (at: Instant): Promise<void> => {
        const claim = await stage.claimOne('w', at)
        await stage.finish('w', claim, { outcome: outcomes.done, at })
        expect(await stage.claim('w', at)).toEqual([])
      }
      await start(t0)
      expect(await stage.claim('w', t0 + 20 * minute)).toEqual([])
      await stage.jobs([{ ...job, [name]: slow }])
      expect(await stage.claim('w', t0 + 21 * minute)).toEqual([])
      await start(t0 + 21 * minute + 10 * second)
      expect(await stage.claim('w', t0 - minute)).toEqual([])
      expect(await stage.claim('w', t0 - minute + 9 * second)).toEqual([])
      expect(await stage.claim('w', t0 - minute + 10 * second)).toHaveLength(1)
    })
  }

  for (const name of ['limit', 'limitPerKey'] as const) {
    law(`${name}: a claim that waited for its transaction does not weaken a limit`, async (stage) => {
      const job = await limited(stage, { limit: undefined, [name]: slow, concurrencyPerKey: 9 })
      await stage.worker('w2')
      await stage.enqueue(['r1', 'r2', 'r3'].map((id) => aRunOf(job, id, { concurrencyKey: 'k' })))
      expect(await stage.claim('w', t0 + 9 * second)).toHaveLength(1)
      // It read the clock before the other one.
      expect(await stage.claim('w2', t0)).toEqual([])
      expect(await stage.claim('w', t0 + 18 * second)).toEqual([])
      expect(await stage.claim('w', t0 + 19 * second)).toHaveLength(1)
    })
  }

  law('keys that are unused again are removed, others are not', async (stage) => {
    const job = await limited(stage, { limit: undefined, limitPerKey: slow })
    await stage.enqueue(['a', 'b'].map((key) => aRunOf(job, key, { payload: key, concurrencyKey: key })))
    await stage.claim('w', t0, { slots: 1 })
    await stage.claim('w', t0 + 5 * second, { slots: 1 })
    await forgetFreeKeys(stage.store, t0 + 12 * second)
    const kept = await stage.store.stateEntries({ kind: 'rate', limit: 10 })
    expect(kept.map(({ name, item }) => [name, item])).toEqual([['key:work', 'b']])
  })
}
