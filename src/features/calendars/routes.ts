/** The routes of calendars. */
import { z } from 'zod'
import { instant, name, page, pageOf, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { CalendarsApp } from './api.js'
import { nextStretches } from './status.js'

const group = 'Calendars'
const calendar = z
  .strictObject({
    name,
    source: z.string(),
    changedAt: instant,
    times: z.array(z.string()),
    includedBy: z.array(name),
    excludedBy: z.array(name),
  })
  .meta({ id: 'Calendar' })
const stretch = z
  .strictObject({ fromAt: instant, untilAt: instant, from: z.string(), until: z.string() })
  .meta({ id: 'CalendarStretch' })

/** Lists calendars and what is in them. */
export const calendarRoutes: readonly Route<CalendarsApp>[] = [
  route({
    method: 'GET',
    path: '/calendars',
    role: 'read',
    group,
    summary: 'Lists the calendars, by name, with the triggers that use them.',
    query: z.strictObject(paging),
    answer: page(calendar),
    example: {},
    handle: async ({ app, query }) => pageOf(await app.calendars.list(), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/calendars/{name}',
    role: 'read',
    group,
    summary: 'Reads one calendar and its next periods.',
    parts: z.strictObject({ name }),
    query: z.strictObject({
      count: z.coerce.number().int().min(1).max(1000).default(10),
      zone: z.string().max(100).default('UTC').meta({ description: 'The zone whose days are counted.' }),
    }),
    answer: calendar.extend({ timezone: z.string(), next: z.array(stretch) }).meta({ id: 'CalendarShown' }),
    example: { parts: { name: 'holidays' }, query: { count: '3', zone: 'Europe/Berlin' } },
    handle: async ({ app, parts, query: { count, zone: timezone } }) => {
      const info = await app.calendars.get(parts.name)
      const asked = { name: info.name, timezone, after: app.now(), count }
      return { ...info, timezone, next: await nextStretches(await app.store(), asked) }
    },
  }),
]
