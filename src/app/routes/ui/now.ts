/** The routes of the first page, and of charts. */
import { z } from 'zod'
import { instantInput, name } from '../../../wire/fields.js'
import { route, type Route } from '../../../wire/route.js'
import { now, series as answer } from '../../../wire/ui.js'
import { loadTriggerKinds } from '../../features.js'
import { lookedAt } from '../../overview/missed.js'
import { nowReader } from '../../overview/now.js'
import { series } from '../../overview/series.js'
import type { App } from '../../rota.js'
import { bucketsOf, listOf, stretchOf } from './query.js'

const group = 'Dashboard'
const mostBuckets = 1000
const mostDays = 400

/** Reads problems, running and upcoming runs, and past ends. */
export function nowRoutes(): readonly Route<App>[] {
  const readNow = nowReader()
  return [
    route({
      method: 'GET',
      path: '/ui/now',
      role: 'read',
      group,
      isPrivate: true,
      summary: 'Reads problems, running runs and upcoming runs.',
      answer: now,
      example: {},
      handle: async ({ app }) =>
        await readNow({ store: await app.store(), kinds: await loadTriggerKinds(), now: app.now() }),
    }),
    route({
      method: 'POST',
      path: '/ui/missed/looked',
      role: 'operate',
      group,
      isPrivate: true,
      summary: 'Removes the missed instants of a trigger from the first page, for all users.',
      body: z.strictObject({
        trigger: name,
        seq: z.number().int().min(0),
        insteadOf: z
          .number()
          .int()
          .optional()
          .meta({ description: 'Undoes it, if no user has acknowledged a later range.' }),
      }),
      answer: z.strictObject({ trigger: name, seq: z.number().int(), before: z.number().int() }),
      example: { body: { trigger: 'nightly', seq: 1 } },
      handle: async ({ app, body: { trigger, seq, insteadOf } }) => {
        await app.triggers.get(trigger)
        const before = await lookedAt(await app.store(), { trigger, seq, insteadOf, now: app.now() })
        return { trigger, seq, before }
      },
    }),
    route({
      method: 'GET',
      path: '/ui/series',
      role: 'read',
      group,
      isPrivate: true,
      summary: 'Counts the runs that ended between two instants, with their durations and delays.',
      query: z.strictObject({
        from: instantInput,
        until: instantInput.optional(),
        bucketMs: z.coerce.number().int().min(1000).optional(),
        by: z.enum(['job', 'queue']).optional(),
        job: listOf(name, 50).optional(),
      }),
      answer,
      example: { query: { from: '2026-01-05T00:00:00Z', until: '2026-01-05T06:00:00Z', by: 'job' } },
      handle: async ({ app, query: { from, until, bucketMs, by, job } }) => {
        const stretch = stretchOf({ from, until: until ?? new Date(app.now()) }, mostDays)
        const buckets = bucketsOf(stretch, { mostBuckets, bucketMs })
        return await series(await app.store(), { ...buckets, by, jobs: job })
      },
    }),
  ]
}
