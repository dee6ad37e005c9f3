/** The routes that plan and start backfills of assets. */
import { z } from 'zod'
import { backfill, backfillOrder, backfillSpeed, backfillView } from '../../../wire/backfills.js'
import { change, name } from '../../../wire/fields.js'
import { route, type Route } from '../../../wire/route.js'
import { pick } from '../../../wire/to-json.js'
import type { AssetsApp } from '../grid.js'
import { backfillChoices } from './choice.js'

const group = 'Backfills'
const label = z.string().max(512)
const only = z.enum(backfillChoices)
const chosen = {
  asset: name,
  from: label.optional().meta({ description: 'The first partition.' }),
  to: label.optional().meta({ description: 'The last partition, included.' }),
  partitions: z.array(label).max(100_000).optional().meta({ description: 'Or the partitions themselves.' }),
  only: only.optional().meta({ description: 'Which of them; default: missing.' }),
  order: backfillOrder.optional().meta({ description: 'Default: oldest-first.' }),
  limit: z.number().int().min(1).max(100_000).optional(),
}
const plan = {
  plan: z.string().meta({ description: 'The digest of what would be made.' }),
  run: z.array(label),
  skip: z.array(z.strictObject({ label, reason: z.string() })),
}
const january = { asset: 'raw_events', from: '2026-01-01', to: '2026-01-31' }

/** Plans and starts backfills of assets. */
export const backfillRoutes: readonly Route<AssetsApp>[] = [
  route({
    method: 'POST',
    path: '/backfills/plan',
    role: 'read',
    group,
    summary: 'Says which partitions a backfill would produce, which it would skip, and why.',
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
    summary: 'Starts a backfill, if there is anything to produce.',
    about:
      'With `plan`, it is refused with 409 if it would no longer produce exactly the planned partitions.',
    body: z.strictObject({
      ...change,
      ...chosen,
      ...backfillSpeed,
      plan: z.string().max(128).optional(),
    }),
    answer: z.strictObject({ ...plan, backfill: backfill.nullable() }),
    status: 201,
    example: { body: { ...january, concurrency: 2, dryRun: true } },
    handle: async ({ app, change: asked, body: { asset, ...given } }) => {
      const options = [
        'from',
        'to',
        'partitions',
        'only',
        'order',
        'limit',
        'concurrency',
        'pace',
        'plan',
      ] as const
      const { backfill: started, ...planned } = await app.assets.backfill(asset, {
        ...pick(given, options),
        ...asked,
      })
      return { ...planned, backfill: started === undefined ? null : backfillView(started) }
    },
  }),
]
