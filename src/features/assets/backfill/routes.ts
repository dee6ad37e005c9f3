/** The routes of backfills. */
import { z } from 'zod'
import { change, changeBody, instant, name } from '../../../wire/fields.js'
import { route, type Route } from '../../../wire/route.js'
import { pick } from '../../../wire/to-json.js'
import type { AssetsApp } from '../grid.js'
import { backfillChoices } from './choice.js'

const group = 'Backfills'
const parts = z.strictObject({ id: z.string().max(64) })
const label = z.string().max(512)
const only = z.enum(backfillChoices)
const order = z.enum(['oldest-first', 'newest-first'])
const chosen = {
  asset: name,
  from: label.optional().meta({ description: 'The first partition.' }),
  to: label.optional().meta({ description: 'The last partition, included.' }),
  partitions: z.array(label).max(100_000).optional().meta({ description: 'Or the partitions themselves.' }),
  only: only.optional().meta({ description: 'Which of them; default: missing.' }),
  order: order.optional().meta({ description: 'Default: oldest-first.' }),
  limit: z.number().int().min(1).max(100_000).optional(),
}
const plan = {
  plan: z.string().meta({ description: 'The digest of what would be made.' }),
  run: z.array(label),
  skip: z.array(z.strictObject({ label, reason: z.string() })),
}
const backfill = z
  .strictObject({
    id: z.string(),
    asset: name,
    only,
    order,
    pace: z.number().int().nullable(),
    total: z.number().int(),
    createdAt: instant,
    first: label,
    last: label,
    started: z.number().int(),
    state: z.enum(['starting', 'started', 'cancelled']),
  })
  .meta({ id: 'Backfill' })
const progress = backfill
  .extend({ done: z.number().int(), failed: z.number().int(), left: z.number().int() })
  .meta({ id: 'BackfillProgress' })
const aBackfill = 'bf-1f2e3d4c'
const january = { asset: 'raw_events', from: '2026-01-01', to: '2026-01-31' }

/** Plans, starts, reads, cancels and resumes backfills. */
export const backfillRoutes: readonly Route<AssetsApp>[] = [
  route({
    method: 'POST',
    path: '/backfills/plan',
    role: 'read',
    group,
    summary: 'Says which partitions a backfill would make, and which not and why.',
    about: 'Pass `plan` to `POST /backfills` to start exactly this.',
    body: z.strictObject(chosen),
    answer: z.strictObject(plan),
    example: { body: january },
    handle: async ({ app, body: { asset, ...options } }) => {
      const { plan: digest, run, skip } = await app.assets.backfill(asset, { ...options, dryRun: true })
      return { plan: digest, run, skip }
    },
  }),
  route({
    method: 'POST',
    path: '/backfills',
    role: 'operate',
    group,
    summary: 'Starts a backfill, if there is anything to make.',
    about: 'With `plan`, it is refused with 409 if it would no longer make exactly what was planned.',
    body: z.strictObject({
      ...change,
      ...chosen,
      pace: z.number().int().min(1).max(100_000).optional().meta({ description: 'How many at once.' }),
      plan: z.string().max(128).optional(),
    }),
    answer: z.strictObject({ ...plan, backfill: backfill.nullable() }),
    status: 201,
    example: { body: { ...january, pace: 2, dryRun: true } },
    handle: async ({ app, change: asked, body: { asset, ...given } }) => {
      const options = ['from', 'to', 'partitions', 'only', 'order', 'limit', 'pace', 'plan'] as const
      return await app.assets.backfill(asset, { ...pick(given, options), ...asked })
    },
  }),
  route({
    method: 'GET',
    path: '/backfills',
    role: 'read',
    group,
    summary: 'Lists backfills with their progress, newest first.',
    query: z.strictObject({
      asset: name.optional(),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    answer: z.strictObject({ items: z.array(progress) }),
    example: { query: { limit: '5' } },
    handle: async ({ app, query: { asset, limit } }) => {
      const newest = (await app.assets.backfills.list(asset)).slice(0, limit)
      return { items: await Promise.all(newest.map(({ id }) => app.assets.backfills.get(id))) }
    },
  }),
  route({
    method: 'GET',
    path: '/backfills/{id}',
    role: 'read',
    group,
    summary: 'Reads one backfill with its progress.',
    parts,
    answer: progress,
    example: { parts: { id: aBackfill } },
    handle: async ({ app, parts: { id } }) => await app.assets.backfills.get(id),
  }),
  route({
    method: 'POST',
    path: '/backfills/{id}/cancel',
    role: 'operate',
    group,
    summary: 'Cancels the rest of a backfill.',
    parts,
    body: changeBody,
    answer: backfill.extend({ cancelledRuns: z.number().int() }),
    example: { parts: { id: aBackfill }, body: { dryRun: true } },
    handle: async ({ app, parts: { id }, change: asked }) => {
      const { backfill: ended, cancelled } = await app.assets.backfills.cancel(id, asked)
      return { ...ended, cancelledRuns: cancelled }
    },
  }),
  route({
    method: 'POST',
    path: '/backfills/{id}/resume',
    role: 'operate',
    group,
    summary: 'Records the runs that are missing because the process that started the backfill died.',
    parts,
    body: changeBody,
    answer: backfill,
    example: { parts: { id: aBackfill }, body: { dryRun: true } },
    handle: async ({ app, parts: { id }, change: asked }) => await app.assets.backfills.resume(id, asked),
  }),
]
