import { expect } from 'vitest'
import { aRun, minute, outcomes, t0, type Law } from '../stage.js'

/** How attempts end. */
export function finishLaws(law: Law): void {
  law('a final outcome is stored with its times, result, error and reason', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('good'), aRun('bad')])
    const [good, bad] = await stage.claim('w', t0)
    if (good === undefined || bad === undefined) throw new Error('two claims were expected')
    const outcome = { ...outcomes.failed, reason: 'quarantined' }
    const startedAt = t0 + 1
    expect(await stage.finish('w', good, { outcome: outcomes.done, at: t0 + 9, startedAt })).toBe('stored')
    expect(await stage.finish('w', bad, { outcome, at: t0 + 8, startedAt })).toBe('stored')
    expect(await stage.run(good.run)).toMatchObject({
      state: 'done',
      result: { ok: true },
      startedAt,
      finishedAt: t0 + 9,
    })
    expect(await stage.run(bad.run)).toMatchObject({
      state: 'failed',
      error: outcomes.failed.error,
      reason: 'quarantined',
      failures: 1,
      finishedAt: t0 + 8,
    })
    expect((await stage.run(good.run)).worker).toBeUndefined()
  })

  law('G5: a report of an older attempt changes nothing', async (stage) => {
    await stage.ready()
    await stage.worker('w2')
    await stage.enqueue([aRun('r')])
    const first = await stage.claimOne('w', t0)
    await stage.finish('w2', first, { outcome: outcomes.lost(t0), at: t0 })
    const second = await stage.claimOne('w2', t0)
    expect(second.attempt).toBe(2)
    expect(await stage.finish('w', first, { outcome: outcomes.done, at: t0 + 1 })).toBe('stale')
    expect(await stage.run(first.run)).toMatchObject({ state: 'running', worker: 'w2', attempt: 2 })
    expect(await stage.finish('w2', second, { outcome: outcomes.failed, at: t0 + 2 })).toBe('stored')
    expect(await stage.finish('w', first, { outcome: outcomes.done, at: t0 + 3 })).toBe('stale')
    expect(await stage.finish('w2', second, { outcome: outcomes.done, at: t0 + 3 })).toBe('stale')
    expect(await stage.states([aRun('r')])).toEqual(['failed'])
  })

  law('an attempt that was never claimed and an unknown run are stale', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    const nobody = { run: aRun('r').id, attempt: 0 }
    expect(await stage.finish('w', nobody, { outcome: outcomes.done, at: t0 })).toBe('stale')
    const absent = { run: aRun('absent').id, attempt: 1 }
    expect(await stage.finish('w', absent, { outcome: outcomes.done, at: t0 })).toBe('stale')
  })

  law('a pending outcome waits until its `runAt` and keeps its counts', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    const ends = [
      { outcome: outcomes.again(t0 + 10), failures: 1, crashes: 0 },
      { outcome: { ...outcomes.again(t0 + 20), end: 'timed-out' as const }, failures: 2, crashes: 0 },
      { outcome: outcomes.lost(t0 + 30), failures: 2, crashes: 1 },
      { outcome: outcomes.released(t0 + 40), failures: 2, crashes: 1 },
    ]
    let attempt = 0
    for (const { outcome, failures, crashes } of ends) {
      const claim = await stage.claimOne('w', t0 + 10 * attempt)
      await stage.finish('w', claim, { outcome, at: t0 + 10 * attempt })
      attempt++
      const run = await stage.run(claim.run)
      expect(run).toMatchObject({
        state: 'pending',
        runAt: outcome.runAt,
        attempt,
        failures,
        crashes,
        dueAt: t0,
      })
      expect(run.finishedAt).toBeUndefined()
      expect(await stage.claim('w', t0 + 10 * attempt - 1)).toEqual([])
    }
    expect(await stage.claimOne('w', t0 + 40)).toMatchObject({ attempt: 5, failures: 2, crashes: 1 })
  })

  law('attempts are numbered without gaps and keep their ends, including the open one', async (stage) => {
    await stage.ready()
    await stage.worker('w2')
    await stage.enqueue([aRun('r')])
    const first = await stage.claimOne('w', t0)
    await stage.finish('w', first, { outcome: outcomes.again(t0 + 5), at: t0 + 2, startedAt: t0 + 1 })
    const second = await stage.claimOne('w2', t0 + 6)
    await stage.finish('w2', second, { outcome: outcomes.released(t0 + 7), at: t0 + 7 })
    await stage.claimOne('w', t0 + 8)
    expect(await stage.store.attempts(aRun('r').id)).toEqual([
      {
        run: aRun('r').id,
        attempt: 1,
        worker: 'w',
        claimedAt: t0,
        startedAt: t0 + 1,
        endedAt: t0 + 2,
        end: 'failed',
        error: outcomes.again(0).error,
      },
      { run: aRun('r').id, attempt: 2, worker: 'w2', claimedAt: t0 + 6, endedAt: t0 + 7, end: 'released' },
      { run: aRun('r').id, attempt: 3, worker: 'w', claimedAt: t0 + 8 },
    ])
  })

  law('a successful first attempt is recorded like any other', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r'), aRun('unclaimed', { runAt: t0 + minute })])
    const claim = await stage.claimOne('w', t0)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 2, startedAt: t0 + 1 })
    expect(await stage.store.attempts(claim.run)).toEqual([
      {
        run: claim.run,
        attempt: 1,
        worker: 'w',
        claimedAt: t0,
        startedAt: t0 + 1,
        endedAt: t0 + 2,
        end: 'done',
      },
    ])
    expect(await stage.store.attempts(aRun('unclaimed').id)).toEqual([])
  })

  law('one turn stores results, then claims the slots that they freed', async (stage) => {
    await stage.ready()
    const slots = [{ key: 'g', limit: 1 }]
    await stage.enqueue([aRun('1', { slots }), aRun('2', { slots })])
    const claim = await stage.claimOne('w', t0)
    const stale = { run: claim.run, attempt: 9, outcome: outcomes.done, startedAt: undefined, endedAt: t0 }
    const answer = await stage.store.turn({
      worker: 'w',
      now: t0,
      finished: [stale, { ...stale, attempt: 1 }, { ...stale, attempt: 1 }],
      claimRequest: { jobs: ['work'], slots: 1, prefetch: 0 },
    })
    expect(answer.finished).toEqual(['stale', 'stored', 'stale'])
    expect(answer.claims.map(({ run }) => run)).toEqual([aRun('2').id])
  })

  law('G7: results and open claims are the same after reopening', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r'), aRun('open')])
    const claim = await stage.claimOne('w', t0)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 1 })
    const open = await stage.claimOne('w', t0 + 2)
    const facts = async (): Promise<unknown> => [
      await stage.store.runs({ limit: 9 }),
      await stage.store.attempts(claim.run),
      await stage.store.attempts(open.run),
      await stage.store.workers(),
      await stage.store.counts(),
    ]
    const before = await facts()
    await stage.reopen()
    expect(await facts()).toEqual(before)
    expect(await stage.finish('w', open, { outcome: outcomes.done, at: t0 + 3 })).toBe('stored')
  })
}
