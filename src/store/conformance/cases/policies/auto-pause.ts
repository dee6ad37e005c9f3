import { expect } from 'vitest'
import { aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

/** Plans the trigger for one more minute and ends its run. */
async function endNext(stage: Stage, at: number, outcome: 'done' | 'failed' | 'cancelled'): Promise<void> {
  await stage.tick('t', at)
  await stage.finish('w', await stage.claimOne('w', at), { outcome: outcomes[outcome], at })
}

/** When a trigger is paused by its own rule. */
export function autoPauseLaws(law: Law): void {
  law('`pauseAfter` failures in a row pause a trigger, in the transaction of the last one', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { pauseAfter: 2 }))
    for (const [i, outcome] of (['failed', 'done', 'failed', 'cancelled'] as const).entries())
      await endNext(stage, t0 + (i + 1) * minute, outcome)
    expect(await stage.store.holds()).toEqual([])
    const at = t0 + 5 * minute
    await endNext(stage, at, 'failed')
    const note = '2 runs in a row failed, the last one: no'
    expect(await stage.store.holds()).toMatchObject([
      { target: 'trigger:t', fromAt: at, untilAt: undefined, actor: 'rota', note },
    ])
    expect((await stage.stored('t')).nextAt).toBeUndefined()
    expect(await stage.store.auditPage({ limit: 5 })).toMatchObject([
      { actor: 'rota', via: 'rule', action: 'trigger.pause', target: 'trigger:t', reason: note, at },
    ])
  })

  law('resume clears the count: only failures after it count', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { pauseAfter: 2 }))
    await endNext(stage, t0 + minute, 'failed')
    await endNext(stage, t0 + 2 * minute, 'failed')
    const now = t0 + 2 * minute + 1
    expect(await stage.store.release({ target: 'trigger:t', now, catchUp: false })).toBe('released')
    await endNext(stage, t0 + 3 * minute, 'failed')
    expect(await stage.store.holds({ openAt: t0 + 3 * minute })).toEqual([])
    await endNext(stage, t0 + 4 * minute, 'failed')
    expect(await stage.store.holds({ openAt: t0 + 4 * minute })).toHaveLength(1)
  })

  law('the order of the due instants counts, not that of the ends', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { pauseAfter: 3 }))
    await stage.tick('t', t0 + 3 * minute)
    const claims = await stage.claim('w', t0 + 3 * minute)
    for (const [i, claim] of claims.toReversed().entries()) {
      expect(await stage.store.holds()).toEqual([])
      await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + 3 * minute + i })
    }
    expect(await stage.store.holds()).toHaveLength(1)
  })

  law('runs of a backfill neither pause a trigger nor count', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { pauseAfter: 2 }))
    await endNext(stage, t0 + minute, 'failed')
    const at = t0 + 2 * minute
    const again = { trigger: 't', version: 1, origin: 'backfill' } as const
    await stage.enqueue(['a', 'b'].map((label, i) => aRun(label, { ...again, dueAt: t0 + i })))
    for (const claim of await stage.claim('w', at))
      await stage.finish('w', claim, { outcome: outcomes.failed, at })
    expect(await stage.store.holds()).toEqual([])
    await endNext(stage, t0 + 3 * minute, 'done')
    expect(await stage.store.holds()).toEqual([])
  })

  law('a trigger that is already paused keeps that hold', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { pauseAfter: 1 }))
    await stage.tick('t', t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    await stage.store.hold({ target: 'trigger:t', now: t0 + minute, actor: 'ann', note: 'looking' })
    await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + minute + 1 })
    expect(await stage.store.holds()).toMatchObject([{ actor: 'ann' }])
    expect(await stage.store.auditPage({ limit: 5 })).toEqual([])
  })
}
