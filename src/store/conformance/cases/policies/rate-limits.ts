import { expect } from 'vitest'
import type { Job } from '../../../../kernel/job/job.js'
import type { Claim } from '../../../port.js'
import { aJob, aRun, aRunOf, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

const second = 1000
/** One start in each ten seconds. */
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

/** How many attempts of a job start in a time. */
export function rateLimitLaws(law: Law): void {
  law('starts are spaced over all workers, and the turn says when the next one may start', async (stage) => {
    await limited(stage)
    await stage.worker('w2')
    await stage.enqueue([1, 2, 3].map((i) => aRun(`r${i}`, { payload: i })))
    const asked = { jobs: ['work', 'other'], slots: 10, prefetch: 5 }
    const turn = await stage.store.turn({ worker: 'w', now: t0, finished: [], claimRequest: asked })
    expect(labelsOf(turn.claims)).toEqual([1])
    expect(turn).toMatchObject({ more: false, nextRunAt: t0 + 10 * second })
    expect(await stage.claim('w2', t0 + 10 * second - 1)).toEqual([])
    expect(labelsOf(await stage.claim('w2', t0 + 10 * second))).toEqual([2])
    // A late start moves those after it: two starts are never closer than that.
    expect(labelsOf(await stage.claim('w', t0 + 25 * second))).toEqual([3])
    await stage.enqueue([aRun('r4', { payload: 4 })])
    expect(await stage.claim('w', t0 + 34 * second)).toEqual([])
    await stage.reopen()
    expect(labelsOf(await stage.claim('w', t0 + 35 * second))).toEqual([4])
    expect(await stage.nextRunAt('w', t0 + 35 * second)).toBeUndefined()
  })

  law('after a quiet time a burst may start at once, and refills with time', async (stage) => {
    await limited(stage, { limit: { ...slow, burst: 3 } })
    await stage.enqueue(Array.from({ length: 9 }, (_, i) => aRun(`r${i}`)))
    const counts: number[] = []
    for (const at of [0, 5, 10, 15, 29, 60, 61])
      counts.push((await stage.claim('w', t0 + at * second)).length)
    expect(counts).toEqual([3, 0, 1, 0, 1, 3, 0])
  })

  law('each attempt counts, and a change of the limit holds at once', async (stage) => {
    const job = await limited(stage)
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    await stage.finish('w', claim, { outcome: outcomes.again(t0 + 1), at: t0 })
    expect(await stage.claim('w', t0 + 1)).toEqual([])
    await stage.jobs([{ ...job, limit: undefined }])
    expect(await stage.claim('w', t0 + 2)).toHaveLength(1)
  })

  law('other jobs, priorities, limits of concurrency and queues hold beside it', async (stage) => {
    const job = await limited(stage, { limit: { ...slow, burst: 9 }, concurrency: 2 })
    const runs = [0, 1, 2].map((i) => aRunOf(job, `r${i}`, { payload: i, priority: i, runAt: t0 + 1 }))
    await stage.enqueue([...runs, aRun('free', { job: 'other', payload: 'free', priority: 1 })])
    expect(labelsOf(await stage.claim('w', t0 + 1, { slots: 3 }))).toEqual(['free', 1, 0])
    expect(await stage.claim('w', t0 + 2)).toEqual([])
  })

  law('keys take turns: a noisy one keeps nobody waiting', async (stage) => {
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
}
