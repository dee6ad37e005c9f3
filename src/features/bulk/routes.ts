/** The routes of actions on many runs. */
import { z } from 'zod'
import { change, instant, maybeInstant, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { run } from '../../wire/runs.js'
import type { BulkApp } from './api.js'
import { bulkActions, mostItems } from './bulk.js'
import { bulkView, planView } from './views.js'

const group = 'Bulk'
const aBulk = '01k9w8m2v4abcdef'
const parts = z.strictObject({ id: z.string().max(64) })
const skipped = z.array(z.strictObject({ reason: z.string(), about: z.string(), count: z.number().int() }))
const bulk = z
  .strictObject({
    id: z.string(),
    action: z.enum(bulkActions),
    filter: z.string().nullable(),
    reason: z.string().nullable(),
    by: z.string(),
    state: z.enum(['running', 'done', 'failed', 'aborted']),
    total: z.number().int(),
    left: z.number().int(),
    done: z.number().int(),
    skipped,
    failed: z.number().int(),
    errors: z.array(z.strictObject({ run: z.string(), message: z.string() })),
    createdAt: instant,
    endedAt: maybeInstant,
  })
  .meta({ id: 'Bulk' })
const plan = z
  .strictObject({ count: z.number().int(), capped: z.boolean(), skipped, examples: z.array(run) })
  .meta({ id: 'BulkPlan' })

/** Starts, lists and aborts actions on many runs. */
export const bulkRoutes: readonly Route<BulkApp>[] = [
  route({
    method: 'POST',
    path: '/bulk',
    role: 'operate',
    group,
    summary: 'Starts an action on many runs: those of a filter, or those with these ids.',
    about: `The runs are selected when it starts, the newest first, at most ${mostItems}. Processes with the scheduler role perform it. A dry run returns only the plan: how many runs it would change, 20 of them, and which ones it would skip and why.`,
    body: z.strictObject({
      ...change,
      action: z.enum(bulkActions),
      filter: z
        .string()
        .max(1000)
        .optional()
        .meta({ description: 'As `q` of GET /runs.', example: 'state:failed job:mail since:yesterday' }),
      zone: z.string().max(100).optional(),
      ids: z.array(z.string().max(64)).max(mostItems).optional(),
      limit: z.number().int().min(1).max(mostItems).optional(),
    }),
    answer: z.strictObject({ plan, bulk: bulk.nullable() }),
    example: { body: { action: 'retry', filter: 'state:failed job:greet', dryRun: true } },
    handle: async ({ app, body, change: asked }) => {
      const { bulk: begun, ...planned } = await app.bulk.start({ ...body, ...asked })
      return { plan: planView(planned), bulk: begun === undefined ? undefined : bulkView(begun) }
    },
  }),
  route({
    method: 'GET',
    path: '/bulk',
    role: 'read',
    group,
    summary: 'Lists the actions on many runs of the last thirty days, the newest first.',
    query: z.strictObject(paging),
    answer: z.strictObject({ items: z.array(bulk), next: z.string().nullable() }),
    example: {},
    handle: async ({ app, query: { limit, after } }) => {
      const found = await app.bulk.list({ limit: limit + 1, after })
      const items = found.slice(0, limit)
      return { items: items.map(bulkView), next: found.length > limit ? items.at(-1)?.id : undefined }
    },
  }),
  route({
    method: 'GET',
    path: '/bulk/{id}',
    role: 'read',
    group,
    summary: 'Reads one action on many runs: what it does, and its progress.',
    parts,
    answer: bulk,
    example: { parts: { id: aBulk } },
    handle: async ({ app, parts: { id } }) => bulkView(await app.bulk.get(id)),
  }),
  route({
    method: 'POST',
    path: '/bulk/{id}/abort',
    role: 'operate',
    group,
    summary: 'Stops an action on many runs; its changes stay.',
    parts,
    body: z.strictObject(change),
    answer: z.strictObject({ bulk, wasRunning: z.boolean() }),
    example: { parts: { id: aBulk }, body: { reason: 'enough' } },
    handle: async ({ app, parts: { id }, change: asked }) => {
      const { bulk: ended, wasRunning } = await app.bulk.abort(id, asked)
      return { bulk: bulkView(ended), wasRunning }
    },
  }),
]
