import { describe, expect, it } from 'vitest'
import { timedKinds } from '../../engine/timed/kinds.js'
import { changeRecord } from '../../engine/audit-change.js'
import { kindsOf } from '../../engine/trigger-kind.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { aRun, aTrigger, minute, outcomes, Stage, t0 } from '../../store/conformance/stage.js'
import { remembered } from './remembered.js'
import { lookedAt, missedSince } from './missed.js'
import { nowReader } from './now.js'
import { timeline } from './timeline.js'
import { usualDurations } from './usual.js'
import { yearOf } from './year.js'

const kinds = kindsOf(timedKinds.values())
const hour = 60 * minute
const day = 24 * hour

/** A store with the job `work` and a worker. */
async function stage(): Promise<Stage> {
  const store = openMemoryStore()
  const made = new Stage({ store, reopen: async () => store, dispose: () => store.close() })
  await made.ready()
  return made
}

const cron = (expression: string, timezone: string) => ({ kind: 'cron', expression, timezone }) as const
const skip = { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 } as const

describe('missed instants', () => {
  it('are listed once for each trigger, until a user acknowledges them', async () => {
    const all = await stage()
    await all.trigger(aTrigger('t', { catchUp: skip }))
    await all.tick('t', t0 + 3 * minute + 1)
    await all.tick('t', t0 + 6 * minute + 1)
    const [missed, ...others] = await missedSince(all.store, t0)
    expect(others).toEqual([])
    expect(missed).toMatchObject({
      trigger: 't',
      ranges: 2,
      firstAt: t0 + minute,
      lastAt: t0 + 6 * minute,
      rule: 'catch-up:skip',
    })
    expect(await missedSince(all.store, t0 + hour)).toEqual([])
    const seq = missed?.seq ?? 0
    await lookedAt(all.store, { trigger: 't', seq: seq - 1, now: t0 })
    expect(await missedSince(all.store, t0)).toMatchObject([{ ranges: 1 }])
    await lookedAt(all.store, { trigger: 't', seq, now: t0 })
    // A user with an older page does not bring it back.
    await lookedAt(all.store, { trigger: 't', seq: seq - 1, now: t0 })
    expect(await missedSince(all.store, t0)).toEqual([])
    // The user can undo it, but not after a later acknowledgement by another one.
    expect(await lookedAt(all.store, { trigger: 't', seq: seq - 1, insteadOf: seq, now: t0 })).toBe(seq)
    expect(await missedSince(all.store, t0)).toMatchObject([{ ranges: 1 }])
    expect(await lookedAt(all.store, { trigger: 't', seq, now: t0 })).toBe(seq - 1)
    await lookedAt(all.store, { trigger: 't', seq: 0, insteadOf: seq - 1, now: t0 })
    expect(await missedSince(all.store, t0)).toEqual([])
    await all.tick('t', t0 + 9 * minute + 1)
    expect(await missedSince(all.store, t0)).toMatchObject([{ ranges: 1 }])
  })
})

describe('the first page', () => {
  it('has failed, late, running and upcoming runs', async () => {
    const made = await stage()
    await made.trigger(aTrigger('minutely'), { nextAt: t0 + hour + minute, cursorAt: t0 + hour })
    await made.trigger(aTrigger('chain', { schedule: { kind: 'after-finish', everyMs: minute } }), {
      nextAt: t0 + hour + 5 * minute,
    })
    await made.enqueue([aRun('fails'), aRun('runs', { trigger: 'minutely' })])
    const [first, second] = await made.claim('w', t0, { slots: 2 })
    if (first === undefined || second === undefined) throw new Error('two claims were expected')
    const failing = first.trigger === undefined ? first : second
    await made.finish('w', failing, { outcome: outcomes.failed, startedAt: t0, at: t0 + 5 })
    await made.enqueue([aRun('late')])
    const read = nowReader()
    const page = (await read({ store: made.store, kinds, now: t0 + hour })) as Record<string, never>
    expect(page).toMatchObject({
      at: t0 + hour,
      troubled: { items: [{ id: failing.run, error: { code: 'HANDLER_FAILED' } }], more: false },
      late: { items: [{ id: aRun('late').id }], more: false },
      // A run in progress has no start in the store: it is counted from its claim.
      running: { items: [{ trigger: 'minutely', startedAt: t0, usual: undefined }], more: false },
      upcoming: { count: 61, isCapped: false },
      day: { total: { failed: 1, done: 0, durations: { runs: 1 } } },
    })
    const { instants, minutes } = page['upcoming'] as unknown as {
      instants: { at: number; count: number; triggers: { name: string }[] }[]
      minutes: { at: number; count: number }[]
    }
    expect(minutes).toHaveLength(60)
    expect(instants.slice(0, 5).map(({ at, count }) => [(at - t0 - hour) / minute, count])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 2],
    ])
    expect(instants[4]?.triggers.map(({ name }) => name).toSorted()).toEqual(['chain', 'minutely'])
  })

  it('computes usual durations from the newest runs that are done', async () => {
    const made = await stage()
    await made.enqueue(
      Array.from({ length: 10 }, (_, i) => aRun(`r${i}`, { trigger: 't', dueAt: t0 + i, runAt: t0 })),
    )
    for (const [i, claim] of (await made.claim('w', t0 + minute, { slots: 10 })).entries()) {
      const outcome = i === 9 ? outcomes.failed : outcomes.done
      await made.finish('w', claim, { outcome, startedAt: t0 + minute, at: t0 + minute + 1000 * (i + 1) })
    }
    const usual = await usualDurations(made.store, ['t', 'nobody', 't'])
    expect([...usual]).toEqual([['t', { runs: 9, medianMs: 5000, p95Ms: 9000 }]])
  })

  it('computes an answer once while it is fresh, and again after it failed', async () => {
    const remember = remembered<number>(100)
    let asked = 0
    const workOut = async (): Promise<number> => {
      asked += 1
      if (asked === 1) throw new Error('no')
      return asked
    }
    const at = (now: number, state = 0): Promise<number> => remember({ now, state }, workOut)
    await expect(at(0)).rejects.toThrow('no')
    expect(await Promise.all([at(1), at(50)])).toEqual([2, 2])
    expect(await at(101)).toBe(3)
    expect(await at(0)).toBe(4)
    expect([await at(1, 1), await at(2, 1)]).toEqual([5, 5])
  })

  it('shows a trigger as soon as it was added', async () => {
    const made = await stage()
    const read = nowReader()
    const upcomingAt = async (now: number): Promise<unknown> =>
      ((await read({ store: made.store, kinds, now })) as { upcoming: unknown }).upcoming
    expect(await upcomingAt(t0)).toMatchObject({ count: 0 })
    const options = { options: {}, author: { by: 'ann', via: 'cli' }, now: t0 } as const
    const asked = { action: 'trigger.add', subjects: [{ kind: 'trigger', name: 'minutely' }] } as const
    const store = made.store.audited(changeRecord([asked], options))
    const audited = new Stage({ store, reopen: async () => store, dispose: () => store.close() })
    await audited.trigger(aTrigger('minutely'))
    expect(await upcomingAt(t0 + 1)).toMatchObject({ count: 60 })
  })
})

describe('the timeline', () => {
  it('has the runs, reasons, holds, versions and upcoming instants of a lane', async () => {
    const made = await stage()
    await made.trigger(aTrigger('t', { catchUp: skip }))
    await made.tick('t', t0 + 3 * minute + 1)
    await made.tick('t', t0 + 4 * minute)
    await made.store.hold({ target: 'trigger:t', now: t0 + 4 * minute, actor: 'ann', note: 'upgrade' })
    const window = { lanes: ['t', 'gone', 't'], fromAt: t0, untilAt: t0 + 10 * minute }
    const drawn = await timeline({ store: made.store, kinds, now: t0 + 5 * minute }, window)
    expect(drawn).toMatchObject({
      unknown: ['gone'],
      lanes: [
        {
          trigger: { name: 't', state: 'paused' },
          marks: [{ state: 'pending', dueAt: t0 + 4 * minute }],
          ranges: [{ reason: 'missed', firstAt: t0 + minute, lastAt: t0 + 3 * minute }],
          holds: [{ target: 'trigger:t', by: 'ann', note: 'upgrade' }],
          versions: [{ version: 1 }],
          due: [5, 6, 7, 8, 9, 10].map((at) => ({ at: t0 + at * minute })),
          dueUntil: t0 + 10 * minute,
        },
      ],
    })
  })

  it('counts runs in buckets where there would be too many marks, and cuts the future', async () => {
    const made = await stage()
    await made.trigger(aTrigger('t', { catchUp: { ...skip, mode: 'all', maxRuns: 1000 } }))
    await made.tick('t', t0 + 6 * hour)
    const window = { lanes: ['t'], fromAt: t0, untilAt: t0 + day }
    const { lanes } = await timeline({ store: made.store, kinds, now: t0 + 6 * hour }, window)
    const lane = lanes[0] as {
      marks: unknown
      buckets: { pending: number }[]
      due: unknown[]
      dueUntil: number
    }
    expect(lane.marks).toBeUndefined()
    expect(lane.buckets.reduce((sum, { pending }) => sum + pending, 0)).toBe(360)
    expect(lane.due).toHaveLength(300)
    expect(lane.dueUntil).toBe(t0 + 6 * hour + 300 * minute)
  })

  it('marks the effects of clock changes', async () => {
    const made = await stage()
    await made.trigger(aTrigger('night', { schedule: cron('30 2 * * *', 'Europe/Berlin') }))
    const fromAt = Date.UTC(2026, 2, 28, 12)
    const window = { lanes: ['night'], fromAt, untilAt: fromAt + 2 * day }
    const { lanes } = await timeline({ store: made.store, kinds, now: fromAt }, window)
    expect(lanes).toMatchObject([
      {
        due: [{ change: { kind: 'moved', cause: 'gap' } }, { change: undefined }],
        timezone: 'Europe/Berlin',
      },
    ])
  })
})

describe('the year of a trigger', () => {
  it('has every local day, with its runs, its instants without runs, and upcoming instants', async () => {
    const made = await stage()
    await made.trigger(aTrigger('night', { schedule: cron('30 2 * * *', 'Europe/Berlin') }))
    const dueAt = Date.UTC(2026, 2, 28, 23, 30)
    await made.enqueue([
      aRun('a', { trigger: 'night', dueAt }),
      aRun('b', { trigger: 'night', dueAt: dueAt + day }),
    ])
    const stored = { ...(await made.stored('night')), cursorAt: Date.UTC(2026, 2, 31) }
    const given = { stored, year: 2026, timezone: 'Europe/Berlin' }
    const year = await yearOf({ store: made.store, kinds, now: Date.UTC(2026, 2, 31) }, given)
    expect(year.days).toHaveLength(365)
    expect(year).toMatchObject({ fromAt: Date.UTC(2025, 11, 31, 23), untilAt: Date.UTC(2026, 11, 31, 23) })
    const withRuns = year.days.filter(({ pending }) => pending > 0).map(({ date }) => date)
    // 00:30 in Berlin on the day of 23 hours, and 01:30 on the day after it.
    expect(withRuns).toEqual(['2026-03-29', '2026-03-30'])
    expect(year.days.find(({ date }) => date === '2026-03-29')?.fromAt).toBe(Date.UTC(2026, 2, 28, 23))
    expect(year.days.filter(({ due }) => due === 1)).toHaveLength(276)
    expect(year.dueUntil).toBe(year.untilAt)
  })

  it('returns up to where the future was counted', async () => {
    const made = await stage()
    await made.trigger(aTrigger('often'))
    const given = { stored: await made.stored('often'), year: 2026, timezone: 'UTC' }
    const year = await yearOf({ store: made.store, kinds, now: t0 }, given)
    const whole = year.days.filter(({ due }) => due === 1440)
    // The first day lacks its first instant, and the last one is not complete.
    expect(whole).toHaveLength(12)
    expect(year.dueUntil).toBe((whole.at(-1)?.fromAt ?? 0) + day)
  })
})
