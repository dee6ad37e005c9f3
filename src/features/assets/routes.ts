/** The routes of assets and their partitions. */
import { z } from 'zod'
import { change, maybeInstant, name, page, pageOf, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { backfillRoutes } from './backfill/routes.js'
import type { AssetsApp } from './grid.js'
import { partitionStates } from './partition-state.js'
import { assetView, partitionView } from './status.js'

const group = 'Assets'
/** The most partitions of one answer. */
const mostPartitions = 10_000
const parts = z.strictObject({ name })
const scheduleParts = z.strictObject({ name, schedule: name })
const label = z.string().max(512)
const partitionState = z.enum(partitionStates)
const asset = z
  .strictObject({
    name,
    partitions: z.looseObject({ kind: z.string() }),
    deps: z.array(z.looseObject({ asset: name })).meta({ description: 'The assets that it depends on.' }),
    queue: name,
    source: z.string(),
    follows: z
      .boolean()
      .meta({ description: 'Whether it is produced when everything that it needs is done.' }),
    schedules: z.array(z.looseObject({ name, enabled: z.boolean(), nextAt: maybeInstant })),
  })
  .meta({ id: 'Asset' })
const partition = z
  .strictObject({ partition: label, state: partitionState, doneAt: maybeInstant, run: z.string().nullable() })
  .meta({ id: 'Partition' })

/** Reads, produces and schedules assets. */
export const assetRoutes: readonly Route<AssetsApp>[] = [
  route({
    method: 'GET',
    path: '/assets',
    role: 'read',
    group,
    summary: 'Lists all assets, by name, with the assets that each depends on.',
    query: z.strictObject(paging),
    answer: page(asset),
    example: {},
    handle: async ({ app, query }) =>
      pageOf((await app.assets.list()).map(assetView), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/assets/{name}',
    role: 'read',
    group,
    summary: 'Reads one asset.',
    parts,
    answer: asset,
    example: { parts: { name: 'raw_events' } },
    handle: async ({ app, parts: given }) => assetView(await app.assets.get(given.name)),
  }),
  route({
    method: 'GET',
    path: '/assets/{name}/partitions',
    role: 'read',
    group,
    summary: 'Lists the states of the partitions of an asset: the newest ones, or those of a range.',
    parts,
    query: z.strictObject({
      from: label.optional().meta({ description: 'The first partition.' }),
      to: label.optional().meta({ description: 'The last partition, included.' }),
      newest: z.coerce.number().int().min(1).max(mostPartitions).default(30),
      state: partitionState.optional().meta({ description: 'Only the partitions in this state.' }),
      limit: z.coerce.number().int().min(1).max(mostPartitions).default(1000).meta({
        description: 'How many partitions of a range are looked at; with `state`, fewer are listed.',
      }),
      after: label.optional().meta({ description: '`next` of the page before.' }),
    }),
    answer: z.strictObject({ items: z.array(partition), next: z.string().nullable() }),
    example: { parts: { name: 'raw_events' }, query: { from: '2026-01-01', to: '2026-01-03' } },
    handle: async ({ app, parts: given, query: { state, ...range } }) => {
      const isRange = range.from !== undefined || range.to !== undefined
      const limit = isRange ? range.limit : mostPartitions
      // One more than the page shows whether there is another page.
      const found = await app.assets.grid(given.name, { ...range, limit: limit + 1 })
      const page = found.slice(0, limit)
      return {
        items: page.filter((one) => state === undefined || one.state === state).map(partitionView),
        next: found.length > limit ? page.at(-1)?.label : undefined,
      }
    },
  }),
  route({
    method: 'POST',
    path: '/assets/{name}/materialize',
    role: 'operate',
    group,
    summary: 'Produces one partition of an asset now.',
    about:
      'If a run that was requested this way is unfinished, the answer is that run, and `created` is false.',
    parts,
    body: z.strictObject({ ...change, partition: label.optional() }),
    answer: z.strictObject({ id: z.string(), created: z.boolean() }),
    status: 201,
    example: { parts: { name: 'raw_events' }, body: { partition: '2026-01-01', dryRun: true } },
    handle: async ({ app, change, parts: given, body: { partition: of } }) => {
      const { id, created } = await app.assets.materialize(given.name, { partition: of, ...change })
      return { id, created }
    },
  }),
  route({
    method: 'PUT',
    path: '/assets/{name}/schedules/{schedule}',
    role: 'admin',
    group,
    summary: 'Defines when an asset is due; a schedule of the same name is replaced.',
    parts: scheduleParts,
    body: z.strictObject({
      ...change,
      options: z
        .looseObject({})
        .meta({ description: 'A schedule as a config file has it, such as `{ "cron": "0 3 * * *" }`.' }),
    }),
    answer: z.strictObject({ name, nextAt: maybeInstant }),
    example: {
      parts: { name: 'raw_events', schedule: 'raw_events_daily' },
      body: {
        options: { cron: '0 3 * * *', timezone: 'Europe/Berlin', partition: 'previous' },
        dryRun: true,
      },
    },
    handle: async ({ app, change, parts: given, body: { options } }) => {
      await app.assets.get(given.name)
      const { schedule } = given
      await app.assets.schedule(given.name, { ...(options as object), name: schedule, ...change })
      const found = (await app.assets.schedules()).find((one) => one.name === schedule)
      return { name: schedule, nextAt: found?.nextAt }
    },
  }),
  route({
    method: 'DELETE',
    path: '/assets/{name}/schedules/{schedule}',
    role: 'admin',
    group,
    summary: 'Ends a schedule of an asset; runs that are due already continue.',
    about: 'If there is no such schedule, `removed` is false.',
    parts: scheduleParts,
    body: z.strictObject(change),
    answer: z.strictObject({ removed: z.boolean() }),
    example: { parts: { name: 'raw_events', schedule: 'raw_events_daily' }, body: { dryRun: true } },
    handle: async ({ app, change, parts: given }) => {
      const { schedules } = await app.assets.get(given.name)
      const isOwn = schedules.some(({ trigger }) => trigger.name === given.schedule)
      return isOwn ? await app.assets.unschedule(given.schedule, change) : { removed: false }
    },
  }),
  ...backfillRoutes,
]
