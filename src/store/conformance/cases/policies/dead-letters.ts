import { expect } from 'vitest'
import type { Run } from '../../../../kernel/run/run.js'
import { aJob, aRun, outcomes, t0, type Law, type Stage } from '../../stage.js'

async function letters(stage: Stage): Promise<readonly Run[]> {
  return await stage.store.runs({ job: 'letters', limit: 10 })
}

/** The runs of a dead-letter job. */
export function deadLetterLaws(law: Law): void {
  law(
    'a run that finally fails is sent to its dead-letter job once, whichever worker reports it',
    async (stage) => {
      await stage.jobs([
        aJob('work', { deadLetter: 'letters' }),
        aJob('letters', { priority: 3, concurrency: 1 }),
      ])
      await stage.worker('w')
      await stage.enqueue([aRun('r', { payload: { order: 7 } })])
      const first = await stage.claimOne('w', t0)
      await stage.finish('w', first, { outcome: outcomes.again(t0 + 1), at: t0 })
      expect(await letters(stage)).toEqual([])
      const second = await stage.claimOne('w', t0 + 1)
      const end = { outcome: { ...outcomes.failed, reason: 'enough' }, at: t0 + 2 }
      expect(await stage.finish('w', second, end)).toBe('stored')
      expect(await stage.finish('w', second, end)).toBe('stale')
      const [letter, ...others] = await letters(stage)
      expect(others).toEqual([])
      expect(letter).toMatchObject({
        state: 'pending',
        origin: 'enqueue',
        priority: 3,
        dueAt: t0 + 2,
        labels: { failed_run: second.run },
        slots: [{ key: 'job:letters', limit: 1 }],
        payload: {
          run: second.run,
          job: 'work',
          attempts: 2,
          error: { code: 'HANDLER_FAILED', message: 'no' },
          reason: 'enough',
          payload: { order: 7 },
        },
      })
      const claim = await stage.claimOne('w', t0 + 2)
      expect(claim).toMatchObject({ run: letter?.id, job: 'letters' })
    },
  )

  law('a run that fails again after a retry is sent again; a cancelled one is not', async (stage) => {
    await stage.jobs([aJob('work', { deadLetter: 'letters' }), aJob('letters')])
    await stage.worker('w')
    await stage.enqueue([aRun('r'), aRun('other')])
    await stage.store.cancel({ run: aRun('other').id, now: t0, reason: 'not needed' })
    const fail = async (at: number): Promise<void> => {
      const [claim] = await stage.claim('w', at, { slots: 1, jobs: ['work'] })
      await stage.finish('w', claim as NonNullable<typeof claim>, { outcome: outcomes.failed, at })
    }
    await fail(t0 + 1)
    await stage.store.retry({ run: aRun('r').id, now: t0 + 2 })
    await fail(t0 + 3)
    expect((await letters(stage)).map(({ dueAt }) => dueAt)).toEqual([t0 + 3, t0 + 1])
  })
}
