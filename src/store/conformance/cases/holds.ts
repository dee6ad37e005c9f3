import { expect } from 'vitest'
import { planTick } from '../../../kernel/tick/tick.js'
import type { Instant } from '../../../time/instant.js'
import { aJob, aRun, aTrigger, minute, t0, type Law } from '../stage.js'

const me = { actor: 'me', note: 'because' }

/** Holds and releases. */
export function holdLaws(law: Law): void {
  law('a hold is kept with its actor, note, start and end; the newest comes first', async (stage) => {
    await stage.store.hold({ target: 'all', now: t0, ...me })
    await stage.store.hold({ target: 'queue:q', now: t0 + 1, untilAt: t0 + 9, ...me })
    const holds = await stage.store.holds()
    expect(holds).toMatchObject([
      { target: 'queue:q', fromAt: t0 + 1, untilAt: t0 + 9, catchUp: false, ...me },
      { target: 'all', fromAt: t0, catchUp: false, ...me },
    ])
    expect(holds[1]?.untilAt).toBeUndefined()
    expect(await stage.store.holds({ target: 'all' })).toHaveLength(1)
    expect((await stage.store.holds({ openAt: t0 + 9 })).map(({ target }) => target)).toEqual(['all'])
  })

  law(
    'a second hold on a held target changes nothing; after its end a new one is possible',
    async (stage) => {
      expect(await stage.store.hold({ target: 'all', now: t0, untilAt: t0 + 5, ...me })).toBe('held')
      expect(await stage.store.hold({ target: 'all', now: t0 + 4, ...me })).toBe('already')
      expect(await stage.store.hold({ target: 'all', now: t0 + 5, ...me })).toBe('held')
      expect(await stage.store.holds()).toHaveLength(2)
    },
  )

  law('a release ends the open hold now, once, and returns absent if there is none', async (stage) => {
    expect(await stage.store.release({ target: 'all', now: t0, catchUp: false })).toBe('absent')
    await stage.store.hold({ target: 'all', now: t0, ...me })
    expect(await stage.store.release({ target: 'all', now: t0 + 7, catchUp: true })).toBe('released')
    expect(await stage.store.release({ target: 'all', now: t0 + 8, catchUp: true })).toBe('absent')
    expect(await stage.store.holds()).toMatchObject([{ fromAt: t0, untilAt: t0 + 7, catchUp: true }])
    await stage.store.hold({ target: 'queue:q', now: t0, untilAt: t0 + 2, ...me })
    expect(await stage.store.release({ target: 'queue:q', now: t0 + 2, catchUp: false })).toBe('absent')
  })

  law(
    'no trigger is due while planning is held; holds on workers or queues do not affect planning',
    async (stage) => {
      await stage.jobs([aJob('work')])
      await stage.trigger(aTrigger('t'))
      const now = t0 + minute
      const isDue = async (): Promise<boolean> => (await stage.store.due({ now, limit: 1 })).length > 0
      for (const target of ['all', 'switch:pipeline', 'switch:scheduler'] as const) {
        await stage.store.hold({ target, now: now - 1, ...me })
        expect(await isDue()).toBe(false)
        await stage.store.release({ target, now, catchUp: false })
      }
      await stage.store.hold({ target: 'switch:worker', now, ...me })
      await stage.store.hold({ target: 'queue:default', now, ...me })
      expect(await isDue()).toBe(true)
    },
  )

  law(
    'the next tick is the end of a hold on planning if that is later, and none while it is open',
    async (stage) => {
      await stage.trigger(aTrigger('t'))
      await stage.store.hold({ target: 'switch:scheduler', now: t0, untilAt: t0 + 10 * minute, ...me })
      expect(await stage.store.nextTickAt({ now: t0 })).toBe(t0 + 10 * minute)
      await stage.store.hold({ target: 'switch:pipeline', now: t0, untilAt: t0 + 5, ...me })
      expect(await stage.store.nextTickAt({ now: t0 })).toBe(t0 + 10 * minute)
      expect(await stage.store.nextTickAt({ now: t0 + 10 * minute })).toBe(t0 + minute)
      await stage.store.hold({ target: 'all', now: t0, ...me })
      expect(await stage.store.nextTickAt({ now: t0 })).toBeUndefined()
    },
  )

  law(
    'a turn says when the first hold ends that keeps runs of its jobs from being claimed',
    async (stage) => {
      await stage.ready()
      await stage.enqueue([aRun('a')])
      const claimRequest = { jobs: ['work'], slots: 1, prefetch: 0 }
      const turn = (now: Instant) => stage.store.turn({ worker: 'w', now, finished: [], claimRequest })
      await stage.store.hold({ target: 'queue:default', now: t0, untilAt: t0 + 9 * minute, ...me })
      await stage.store.hold({ target: 'queue:other', now: t0, untilAt: t0 + minute, ...me })
      expect(await turn(t0)).toMatchObject({ claims: [], nextRunAt: t0 + 9 * minute })
      await stage.store.hold({ target: 'switch:worker', now: t0, untilAt: t0 + 5 * minute, ...me })
      expect(await turn(t0)).toMatchObject({ claims: [], nextRunAt: t0 + 5 * minute })
      await stage.store.hold({ target: 'all', now: t0 + 5 * minute, ...me })
      await stage.store.release({ target: 'queue:default', now: t0 + 5 * minute, catchUp: false })
      expect(await turn(t0 + 5 * minute)).toMatchObject({ claims: [], nextRunAt: undefined })
      await stage.store.release({ target: 'all', now: t0 + 6 * minute, catchUp: false })
      expect(await turn(t0 + 6 * minute)).toMatchObject({ claims: [{ job: 'work' }], nextRunAt: undefined })
    },
  )

  law('a paused trigger stops ticking, and a tick planned before the pause is stale', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const now = t0 + minute
    const planned = planTick(await stage.seen('t', now), now)
    await stage.store.hold({ target: 'trigger:t', now, ...me })
    expect(await stage.store.tick([planned])).toEqual(['stale'])
    expect(await stage.stored('t')).toMatchObject({ nextAt: undefined, revision: 2 })
    expect(await stage.store.due({ now: t0 + 99 * minute, limit: 9 })).toEqual([])
  })

  law('a trigger that is paused with an end is due at that end', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const untilAt = t0 + 5 * minute
    await stage.store.hold({ target: 'trigger:t', now: t0 + 1, untilAt, ...me })
    expect(await stage.store.due({ now: untilAt - 1, limit: 9 })).toEqual([])
    const [due] = await stage.store.due({ now: untilAt, limit: 9 })
    expect(due?.holds).toMatchObject([{ target: 'trigger:t', fromAt: t0 + 1, untilAt }])
  })

  law('G3: a released trigger ticks immediately and records the held range', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    await stage.store.hold({ target: 'trigger:t', now: t0 + 1, ...me })
    const now = t0 + 3 * minute + 1
    await stage.store.release({ target: 'trigger:t', now, catchUp: false })
    expect(await stage.stored('t')).toMatchObject({ nextAt: now, revision: 3, cursorAt: t0 })
    const tick = await stage.tick('t', now)
    expect(tick.runs).toEqual([])
    const ledger = await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: now })
    expect(ledger).toMatchObject([{ firstAt: t0 + minute, lastAt: t0 + 3 * minute, reason: 'paused' }])
  })

  law('G3: a release with catch-up makes the held range due', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    await stage.store.hold({ target: 'trigger:t', now: t0 + 1, ...me })
    const now = t0 + 3 * minute
    await stage.store.release({ target: 'trigger:t', now, catchUp: true })
    const { runs } = await stage.tick('t', now)
    expect(runs.map(({ dueAt }) => dueAt)).toEqual([1, 2, 3].map((i) => t0 + i * minute))
  })

  law('a due trigger comes with the holds that overlap its window, and no others', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    await stage.store.hold({ target: 'all', now: t0 - 99, untilAt: t0 - 9, ...me })
    await stage.store.hold({ target: 'switch:scheduler', now: t0 - 9, untilAt: t0 + 9, ...me })
    await stage.store.hold({ target: 'all', now: t0 + 10, untilAt: t0 + 20, ...me })
    await stage.store.hold({ target: 'switch:worker', now: t0 + 10, untilAt: t0 + 20, ...me })
    await stage.store.hold({ target: 'trigger:other', now: t0 + 10, untilAt: t0 + 20, ...me })
    await stage.store.hold({ target: 'switch:pipeline', now: t0 + 2 * minute, ...me })
    const { holds } = await stage.seen('t', t0 + minute)
    const seen = holds.toSorted((a, b) => b.fromAt - a.fromAt).map(({ target, fromAt }) => [target, fromAt])
    expect(seen).toEqual([
      ['all', t0 + 10],
      ['switch:scheduler', t0 - 9],
    ])
  })

  law('a hold on an undefined trigger is kept and has no effect', async (stage) => {
    expect(await stage.store.hold({ target: 'trigger:nobody', now: t0, ...me })).toBe('held')
    expect(await stage.store.release({ target: 'trigger:nobody', now: t0 + 1, catchUp: false })).toBe(
      'released',
    )
  })

  law('G7: holds are the same after reopening', async (stage) => {
    await stage.trigger(aTrigger('t'))
    await stage.store.hold({ target: 'trigger:t', now: t0, ...me })
    const before = [await stage.store.holds(), await stage.stored('t')]
    await stage.reopen()
    expect([await stage.store.holds(), await stage.stored('t')]).toEqual(before)
    expect(await stage.store.hold({ target: 'trigger:t', now: t0, ...me })).toBe('already')
  })
}
