import { expect } from 'vitest'
import type { CalendarRules } from '../../../../kernel/calendar/calendar.js'
import { aTrigger, minute, t0, type Law } from '../../stage.js'

const weekend = { name: 'weekend', times: { weekdays: [0, 6] } }
const holidays = { name: 'holidays', times: { yearly: ['12-25'], local: [[t0, t0 + 3 * minute]] } }
const nights = { note: 'backup', times: { windows: [{ cron: '10 0 * * *', forMs: 5 * minute }] } }

/** Which instants a calendar excludes follows from the definition: the store keeps the definition and the reason. */
export function calendarLaws(law: Law): void {
  law('a trigger keeps its calendars, blackouts and bounds unchanged', async (stage) => {
    const calendar = {
      timezone: 'Europe/Berlin',
      include: [{ name: 'all', times: { weekdays: [0, 1, 2, 3, 4, 5, 6] } }],
      exclude: [weekend, holidays],
      blackouts: [nights],
      onExcluded: 'next-day',
      movesFromAt: t0,
    } as unknown as CalendarRules
    const schedule = {
      kind: 'interval',
      everyMs: minute,
      anchorAt: t0,
      startAt: t0,
      endAt: t0 + 9,
      count: 7,
      calendar,
    } as const
    await stage.ready()
    await stage.trigger(aTrigger('t', { schedule }))
    await stage.reopen()
    expect((await stage.stored('t')).trigger.schedule).toEqual(schedule)
    expect((await stage.seen('t', t0)).trigger.schedule).toEqual(schedule)
    expect((await stage.store.versions('t'))[0]?.trigger.schedule).toEqual(schedule)
  })

  law('a tick records excluded instants in the ledger, each with the rule that decided', async (stage) => {
    const calendar = { timezone: 'UTC', exclude: [holidays], blackouts: [nights] } as unknown as CalendarRules
    await stage.ready()
    await stage.trigger(
      aTrigger('t', { schedule: { kind: 'interval', everyMs: minute, anchorAt: t0, calendar } }),
    )
    await stage.tick('t', t0 + 16 * minute)
    await stage.reopen()
    const ranges = await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: t0 + 16 * minute })
    expect(ranges).toMatchObject([
      { reason: 'calendar', rule: 'calendar:exclude', detail: 'holidays', firstAt: t0 + minute },
      { reason: 'blackout', rule: 'blackout', detail: 'backup', firstAt: t0 + 10 * minute },
    ])
    expect(ranges.map(({ lastAt }) => (lastAt - t0) / minute)).toEqual([2, 14])
    const window = { trigger: 't', fromAt: t0, untilAt: t0 + 16 * minute, limit: 99 }
    const minutes = (await stage.store.runInstants(window)).map(({ dueAt }) => (dueAt - t0) / minute)
    expect(minutes).toEqual([3, 4, 5, 6, 7, 8, 9, 15, 16])
  })
}
