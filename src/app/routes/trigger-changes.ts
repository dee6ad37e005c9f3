/** The routes that change a trigger's definition, and those that look at one trigger more closely. */
import { z } from 'zod'
import { parseDuration } from '../../time/duration.js'
import { formatInstant } from '../../time/instant.js'
import { coverage } from '../../wire/explain.js'
import { trigger } from '../../wire/definitions.js'
import { change, instant, instantInput, name } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { nextInstants } from '../explain/next-instants.js'
import { scheduleDiff } from '../explain/schedule-diff.js'
import type { App } from '../rota.js'
import { triggerOf } from './triggers-page.js'

const group = 'Triggers'
const parts = z.strictObject({ name })
const shownInstants = 10

/** Changes triggers. */
export const triggerChangeRoutes: readonly Route<App>[] = [
  route({
    method: 'PATCH',
    path: '/triggers/{name}',
    role: 'admin',
    group,
    summary: 'Changes options of a trigger that was added at run time.',
    about:
      'What `options` leaves out stays as it is. A trigger of another source is refused with 409 and the source that owns it. The answer also says which due instants the change adds and removes within `days`; `capped` means that there are more than were compared. `If-Match` takes the `ETag` of the trigger.',
    parts,
    body: z.strictObject({
      ...change,
      options: z.looseObject({}).meta({
        description: 'As a config file has them: `cron`, `every`, `timezone`, `catchUp`, `overlap` …',
      }),
      days: z.number().int().min(1).max(366).default(30),
    }),
    answer: z.strictObject({
      trigger,
      nextBefore: z.array(instant),
      nextAfter: z.array(instant),
      appear: z.array(instant),
      vanish: z.array(instant),
      capped: z.boolean(),
    }),
    example: {
      parts: { name: 'hourly' },
      body: { options: { every: '30m' }, days: 1, reason: 'more often', dryRun: true },
    },
    handle: async ({ app, parts: given, change: asked, body: { options, days } }) => {
      const now = app.now()
      const { before, after } = await app.triggers.edit(given.name, options, asked)
      const schedules = { before: before.trigger.schedule, after: after.schedule }
      const until = now + parseDuration(`${days}d`)
      const { appear, vanish, isCapped } = scheduleDiff(schedules, { from: now, until })
      const nextOf = (schedule: typeof after.schedule) =>
        nextInstants(schedule, { after: now, count: shownInstants }).map(formatInstant)
      return {
        trigger: await triggerOf(app, given.name),
        nextBefore: nextOf(schedules.before),
        nextAfter: nextOf(schedules.after),
        appear: appear.map(formatInstant),
        vanish: vanish.map(formatInstant),
        capped: isCapped,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}/coverage',
    role: 'read',
    group,
    summary: 'Compares the computed due instants of one trigger with the ledger.',
    parts,
    query: z.strictObject({ since: instantInput.optional() }),
    answer: coverage,
    example: { parts: { name: 'nightly' } },
    handle: async ({ app, parts: given, query: { since } }) => {
      const [found] = await app.coverage({ trigger: given.name, ...(since === undefined ? {} : { since }) })
      return found
    },
  }),
]
