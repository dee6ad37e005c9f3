import { expect } from 'vitest'
import { newNotices, watchKey } from '../../kernel/alert/notice.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import { aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from './stage.js'

/** The notices of failures. */
export function noticeLaws(law: Law): void {
  law(
    'a run that finally fails leaves one notice in the same transaction, if its kind is watched',
    async (stage) => {
      await stage.ready()
      await watch(stage, ['failure'])
      await stage.enqueue([aRun('good'), aRun('bad'), aRun('again')])
      const [good, bad, again] = await stage.claim('w', t0)
      if (good === undefined || bad === undefined || again === undefined) throw new Error('three claims')
      await stage.finish('w', good, { outcome: outcomes.done, at: t0 + 1 })
      await stage.finish('w', bad, { outcome: outcomes.failed, at: t0 + 2 })
      await stage.finish('w', again, { outcome: outcomes.again(t0 + 9), at: t0 + 3 })
      const [notice, ...others] = await notices(stage)
      expect(others).toEqual([])
      expect(notice?.value).toEqual({
        on: 'failure',
        at: t0 + 2,
        job: 'work',
        trigger: null,
        run: bad.run,
        dueAt: t0,
        text: 'no',
      })
      // A late report of the same attempt adds nothing.
      expect(await stage.finish('w', bad, { outcome: outcomes.failed, at: t0 + 4 })).toBe('stale')
      expect(await notices(stage)).toHaveLength(1)
    },
  )

  law('a run that is retried manually and fails again leaves another notice', async (stage) => {
    await stage.ready()
    await watch(stage, ['failure'])
    await stage.enqueue([aRun('r')])
    for (const at of [t0 + 1, t0 + 2]) {
      const claim = await stage.claimOne('w', at)
      await stage.finish('w', claim, { outcome: outcomes.failed, at })
      await stage.store.retry({ run: claim.run, now: at })
    }
    expect(await notices(stage)).toHaveLength(2)
  })

  law('a trigger that is paused by its rule leaves a notice in the same transaction', async (stage) => {
    await stage.ready()
    await watch(stage, ['paused'])
    await stage.trigger(aTrigger('t', { pauseAfter: 1 }))
    await stage.tick('t', t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + minute })
    const about = { on: 'paused', at: t0 + minute, trigger: 't', run: claim.run, dueAt: null }
    const text = 'Rota paused it: 1 run failed, the last one: no'
    expect((await notices(stage)).map(({ value }) => value)).toEqual([{ ...about, job: 'work', text }])
  })

  law('without a watch for its kind there is no notice', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('unwatched'), aRun('quarantined')])
    const [unwatched, other] = await stage.claim('w', t0)
    if (unwatched === undefined || other === undefined) throw new Error('two claims')
    await stage.finish('w', unwatched, { outcome: outcomes.failed, at: t0 })
    await watch(stage, ['failure'])
    const outcome = { ...outcomes.failed, reason: 'quarantined' }
    await stage.finish('w', other, { outcome, at: t0 })
    expect(await notices(stage)).toEqual([])
    await watch(stage, ['quarantined', 'failure'])
    await stage.store.retry({ run: other.run, now: t0 })
    await stage.finish('w', await stage.claimOne('w', t0), { outcome, at: t0 + 1 })
    expect((await notices(stage)).map(({ value }) => (value as { on: string }).on)).toEqual(['quarantined'])
  })
}

async function watch(stage: Stage, kinds: readonly string[]): Promise<void> {
  const changes = [{ ...watchKey, value: { 'code:test': kinds } }]
  expect(await stage.store.changeState({ changes, now: t0 })).toBe('changed')
}

async function notices(stage: Stage): Promise<readonly StateEntry[]> {
  return await stage.store.stateEntries({ kind: 'alert', names: [newNotices], limit: 9 })
}
