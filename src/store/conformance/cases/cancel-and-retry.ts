import { expect } from 'vitest'
import { aRun, minute, outcomes, t0, type Law } from '../stage.js'

/** Cancelling runs, and retrying them. */
export function cancelAndRetryLaws(law: Law): void {
  law('a pending run is cancelled immediately, with the reason', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('ready'), aRun('later', { runAt: t0 + minute })])
    for (const label of ['ready', 'later']) {
      const request = { run: aRun(label).id, now: t0 + 3, reason: 'not needed' }
      expect(await stage.store.cancel(request)).toBe('cancelled')
      expect(await stage.run(request.run)).toMatchObject({
        state: 'cancelled',
        reason: 'not needed',
        finishedAt: t0 + 3,
        attempt: 0,
      })
    }
    expect(await stage.claim('w', t0 + minute)).toEqual([])
    expect(await stage.nextRunAt('w', t0)).toBeUndefined()
  })

  law('a running run is asked to stop: its worker is notified once', async (stage) => {
    await stage.ready()
    await stage.worker('w2')
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    const request = { run: claim.run, now: t0 + 1, reason: 'enough' }
    expect(await stage.store.cancel(request)).toBe('requested')
    expect(await stage.run(claim.run)).toMatchObject({ state: 'running', cancelRequested: true })
    expect((await stage.turn('w2', t0 + 1)).notices).toEqual([])
    expect((await stage.turn('w', t0 + 1)).notices).toEqual([{ run: claim.run, attempt: 1, kind: 'cancel' }])
    expect((await stage.turn('w', t0 + 1)).notices).toEqual([])
    expect(await stage.store.cancel(request)).toBe('requested')
    await stage.finish('w', claim, { outcome: outcomes.cancelled, at: t0 + 2 })
    expect(await stage.run(claim.run)).toMatchObject({ state: 'cancelled', reason: 'enough' })
  })

  law('a run that ended before it could be stopped keeps its own result', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    const claim = await stage.claimOne('w', t0)
    await stage.store.cancel({ run: claim.run, now: t0, reason: 'enough' })
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 1 })
    const run = await stage.run(claim.run)
    expect(run.state).toBe('done')
    expect(run.reason).toBeUndefined()
  })

  law('a run that was asked to stop is not retried, whatever the outcome of its attempt', async (stage) => {
    await stage.ready()
    const ends = [outcomes.again(t0 + 9), outcomes.lost(t0 + 9), outcomes.released(t0 + 9)]
    for (const [i, outcome] of ends.entries()) {
      await stage.enqueue([aRun(`r${i}`)])
      const claim = await stage.claimOne('w', t0)
      await stage.store.cancel({ run: claim.run, now: t0, reason: 'enough' })
      expect(await stage.finish('w', claim, { outcome, at: t0 + 1 })).toBe('stored')
      expect(await stage.run(claim.run)).toMatchObject({
        state: 'cancelled',
        reason: 'enough',
        finishedAt: t0 + 1,
      })
    }
    expect(await stage.claim('w', t0 + minute)).toEqual([])
  })

  law('a final run is not cancelled, and an absent one is absent', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 })
    expect(await stage.store.cancel({ run: aRun('r').id, now: t0, reason: 'x' })).toBe('final')
    expect(await stage.store.cancel({ run: aRun('absent').id, now: t0, reason: 'x' })).toBe('absent')
    expect(await stage.states([aRun('r')])).toEqual(['done'])
  })

  law(
    'a failed or cancelled run is retried now, with new tries and the next attempt number',
    async (stage) => {
      await stage.ready()
      await stage.enqueue([aRun('r')])
      const claim = await stage.claimOne('w', t0)
      await stage.store.cancel({ run: claim.run, now: t0, reason: 'enough' })
      await stage.finish('w', claim, { outcome: { ...outcomes.failed, reason: 'no' }, at: t0 + 1 })
      expect(await stage.store.retry({ run: claim.run, now: t0 + 5 })).toBe('pending')
      const run = await stage.run(claim.run)
      expect(run).toMatchObject({
        state: 'pending',
        runAt: t0 + 5,
        dueAt: t0,
        failures: 0,
        crashes: 0,
        attempt: 1,
      })
      expect(run.cancelRequested).toBe(false)
      expect([run.error, run.reason, run.finishedAt]).toEqual([undefined, undefined, undefined])
      expect(await stage.claimOne('w', t0 + 5)).toMatchObject({ run: claim.run, attempt: 2, failures: 0 })
      const attempts = await stage.store.attempts(claim.run)
      expect(attempts.map(({ attempt, end }) => [attempt, end])).toEqual([
        [1, 'failed'],
        [2, undefined],
      ])
    },
  )

  law('only failed and cancelled runs are retried', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('r')])
    const request = { run: aRun('r').id, now: t0 }
    expect(await stage.store.retry(request)).toBe('not-final')
    const claim = await stage.claimOne('w', t0)
    expect(await stage.store.retry(request)).toBe('not-final')
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(await stage.store.retry(request)).toBe('not-final')
    expect(await stage.store.retry({ run: aRun('absent').id, now: t0 })).toBe('absent')
  })

  law('a retried run takes its concurrency slots like any other', async (stage) => {
    await stage.ready()
    const slots = [{ key: 'g', limit: 1 }]
    await stage.enqueue([aRun('a', { slots }), aRun('b', { slots })])
    await stage.store.cancel({ run: aRun('a').id, now: t0, reason: '' })
    await stage.store.retry({ run: aRun('a').id, now: t0 })
    expect(await stage.run(aRun('a').id)).toMatchObject({ state: 'pending', waitsFor: 'g' })
  })

  law('Q7: an advanced run can be claimed before its runAt, and keeps its due instant', async (stage) => {
    await stage.ready()
    const later = { dueAt: t0 + 60_000, runAt: t0 + 60_000 }
    const slots = [{ key: 'g', limit: 1 }]
    await stage.enqueue([aRun('a', { ...later, slots }), aRun('b', later)])
    expect(await stage.claim('w', t0)).toEqual([])
    for (const label of ['a', 'b']) {
      const request = { run: aRun(label, later).id, now: t0 }
      expect(await stage.store.advance(request)).toBe('advanced')
      expect(await stage.store.advance(request)).toBe('not-waiting')
    }
    expect(await stage.run(aRun('b', later).id)).toMatchObject({ dueAt: t0 + 60_000, runAt: t0 })
    expect((await stage.claim('w', t0)).length).toBe(2)
    expect(await stage.store.advance({ run: aRun('b', later).id, now: t0 })).toBe('not-waiting')
    expect(await stage.store.advance({ run: aRun('absent').id, now: t0 })).toBe('absent')
  })
}
