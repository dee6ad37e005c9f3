import type { Blackout, CalendarSpec } from '../../kernel/calendar/calendar.js'
import type { Calendars } from '../../kernel/calendar/define-calendar.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import { isHeard, type Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** The calendars that an app defines, by name. */
export function namedCalendars(): Map<string, CalendarSpec> {
  return new Map()
}

/** The blackouts of all triggers of an app, and the zone of triggers that have none. */
export function commonBlackouts(): { timezone: string; readonly list: Blackout[] } {
  return { timezone: 'UTC', list: [] }
}

/** A trigger with the blackouts of its app. Triggers of upstream assets and webhooks have none. */
export function withBlackouts(trigger: Trigger, common: ReturnType<typeof commonBlackouts>): Trigger {
  const { schedule } = trigger
  if (common.list.length === 0 || schedule.kind === 'upstream' || isHeard(schedule)) return trigger
  const own = schedule.calendar ?? { timezone: 'timezone' in schedule ? schedule.timezone : common.timezone }
  const blackouts = [...(own.blackouts ?? []), ...common.list]
  return { ...trigger, schedule: { ...schedule, calendar: { ...own, blackouts } } }
}

/** A stored calendar, for triggers that are defined at run time and for listings. */
export interface StoredCalendar {
  readonly name: string
  readonly source: string
  readonly times: CalendarSpec
  readonly changedAt: Instant
}

/** How many calendars a store may have. */
const most = 10_000

/** All calendars of a store, by name. */
export async function readCalendars(store: Store): Promise<readonly StoredCalendar[]> {
  return (await store.stateEntries({ kind: 'calendar', items: [''], limit: most })).map(calendarOf)
}

/** The item under which the blackouts of a source are stored. */
const blackoutsItem = 'blackouts'

/** The blackouts for triggers that are defined at run time: those of all sources. */
export async function storedBlackouts(store: Store): Promise<ReturnType<typeof commonBlackouts>> {
  const entries = await store.stateEntries({ kind: 'calendar', items: [blackoutsItem], limit: most })
  const all = entries.map(({ value }) => value as unknown as ReturnType<typeof commonBlackouts>)
  return { timezone: all[0]?.timezone ?? 'UTC', list: all.flatMap(({ list }) => list) }
}

/** The calendars that triggers defined at run time may use. */
export async function storedCalendars(store: Store): Promise<Calendars> {
  return new Map((await readCalendars(store)).map(({ name, times }) => [name, times]))
}

/** Makes the stored calendars of a source equal to these. The last source to define a name owns it. */
export async function syncCalendars(
  store: Store,
  {
    source,
    calendars,
    blackouts,
    now,
  }: {
    readonly source: string
    readonly calendars: Calendars
    readonly blackouts: ReturnType<typeof commonBlackouts>
    readonly now: Instant
  },
): Promise<void> {
  const before = new Map((await readCalendars(store)).map((one) => [one.name, one]))
  const changed = [...calendars]
    .map(([name, times]) => ({ name, value: { source, times } }))
    .filter(({ name, value }) => {
      const known = before.get(name)
      return JSON.stringify(known && { source: known.source, times: known.times }) !== JSON.stringify(value)
    })
  const vanished = [...before.values()]
    .filter((one) => one.source === source && !calendars.has(one.name))
    .map(({ name }) => ({ name, value: undefined }))
  const changes: StateChange[] = [...changed, ...vanished].map(({ name, value }) => ({
    kind: 'calendar',
    name,
    item: '',
    value: value as Json | undefined,
  }))
  changes.push(...(await changedBlackouts(store, source, blackouts)))
  if (changes.length > 0) await store.changeState({ changes, now })
}

async function changedBlackouts(
  store: Store,
  source: string,
  blackouts: ReturnType<typeof commonBlackouts>,
): Promise<readonly StateChange[]> {
  const key = { kind: 'calendar', name: source, item: blackoutsItem } as const
  const [before] = await store.stateEntries({ ...key, names: [source], items: [blackoutsItem], limit: 1 })
  const value = blackouts.list.length === 0 ? undefined : (blackouts as unknown as Json)
  return JSON.stringify(before?.value) === JSON.stringify(value) ? [] : [{ ...key, value }]
}

function calendarOf({ name, value, at }: StateEntry): StoredCalendar {
  const { source, times } = value as unknown as Pick<StoredCalendar, 'source' | 'times'>
  return { name, source, times, changedAt: at }
}
