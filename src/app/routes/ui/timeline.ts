/** The routes of the timeline, and of the year of one trigger. */
import { z } from 'zod'
import { instantInput, name } from '../../../wire/fields.js'
import { route, type Route } from '../../../wire/route.js'
import { timeline as answer, year } from '../../../wire/ui.js'
import { zoneOf } from '../../../time/zone.js'
import { loadTriggerKinds } from '../../features.js'
import { timeline } from '../../overview/timeline.js'
import { yearOf } from '../../overview/year.js'
import type { App } from '../../rota.js'
import { listOf, stretchOf } from './query.js'

const group = 'Dashboard'
const mostLanes = 100
const mostDays = 400

/** Reads triggers over time. */
export const timelineRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/ui/timeline',
    role: 'read',
    group,
    isPrivate: true,
    summary:
      'Reads the lanes of triggers: runs, ranges without runs, holds, versions, and upcoming instants.',
    query: z.strictObject({ lanes: listOf(name, mostLanes), from: instantInput, until: instantInput }),
    answer,
    example: { query: { lanes: 'nightly', from: '2026-01-05T00:00:00Z', until: '2026-01-06T00:00:00Z' } },
    handle: async ({ app, query: { lanes, from, until } }) => {
      const { fromAt, untilAt } = stretchOf({ from, until }, mostDays)
      const parts = { store: await app.store(), kinds: await loadTriggerKinds(), now: app.now() }
      return await timeline(parts, { lanes, fromAt, untilAt })
    },
  }),
  route({
    method: 'GET',
    path: '/ui/trigger/{name}/year',
    role: 'read',
    group,
    isPrivate: true,
    summary: 'Reads a calendar year of a trigger, by day in its zone or in another one.',
    parts: z.strictObject({ name }),
    query: z.strictObject({
      year: z.coerce.number().int().min(1971).max(2198).optional(),
      zone: z.string().max(100).optional(),
    }),
    answer: year,
    example: { parts: { name: 'nightly' }, query: { year: '2026' } },
    handle: async ({ app, parts: { name: trigger }, query: { year: asked, zone } }) => {
      const stored = await app.triggers.get(trigger)
      const { schedule } = stored.trigger
      const timezone = zone ?? ('timezone' in schedule ? schedule.timezone : 'UTC')
      const now = app.now()
      const parts = { store: await app.store(), kinds: await loadTriggerKinds(), now }
      const thisYear = new Date(zoneOf(timezone).toLocal(now)).getUTCFullYear()
      return await yearOf(parts, { stored, timezone, year: asked ?? thisYear })
    },
  }),
]
