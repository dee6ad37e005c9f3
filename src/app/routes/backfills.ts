/** The routes of backfills: planning those of triggers, and starting, reading and cancelling all of them. */
import { z } from 'zod'
import { instantChoices, instantSkips, type InstantSkip } from '../../engine/backfill/plan-instants.js'
import {
  backfill,
  backfillOrder,
  backfillProgress,
  backfillSpeed,
  backfillView,
} from '../../wire/backfills.js'
import { change, changeBody, instant, instantInput, name } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { App } from '../rota.js'
import { planView } from './backfill-views.js'

const group = 'Backfills'
const parts = z.strictObject({ id: z.string().max(64) })
const aBackfill = 'bf-1f2e3d4c'
const reasons = Object.keys(instantSkips) as [InstantSkip, ...InstantSkip[]]
const chosen = z.strictObject({
  ...change,
  ...backfillSpeed,
  from: instantInput.meta({ description: 'The first instant.' }),
  to: instantInput.meta({ description: 'The last instant, included.' }),
  only: z.enum(instantChoices).optional().meta({ description: 'Which due instants; default: missing.' }),
  definition: z
    .enum(['in-force', 'current'])
    .optional()
    .meta({ description: 'Which definition decides; default: the one in force at that time.' }),
  order: backfillOrder.optional().meta({ description: 'Default: oldest-first.' }),
  limit: z.number().int().min(1).max(10_000).optional(),
  start: z.boolean().optional().meta({ description: 'Starts it immediately.' }),
})
const plan = z.strictObject({
  backfill: backfill.nullable(),
  run: z.array(z.strictObject({ at: instant, version: z.number().int() })),
  skip: z.array(
    z.strictObject({
      firstAt: instant,
      lastAt: instant,
      count: z.number().int(),
      reason: z.enum(reasons),
      about: z.string(),
      detail: z.string().nullable(),
    }),
  ),
})

/** Plans backfills of triggers, and starts, reads and cancels all of them. */
export const backfillRoutes: readonly Route<App>[] = [
  route({
    method: 'POST',
    path: '/triggers/{name}/backfills',
    role: 'operate',
    group,
    summary:
      'Plans to run the due instants of a range again: which ones run, which ones are skipped, and why.',
    about:
      'The plan is stored for seven days. `POST /backfills/{id}/start` starts it; with `start` it starts immediately. It moves no cursor. A dry run stores nothing.',
    parts: z.strictObject({ name }),
    body: chosen,
    answer: plan,
    status: 201,
    example: {
      parts: { name: 'nightly' },
      body: { from: '2026-01-01T00:00:00Z', to: '2026-01-31T23:59:59Z', pace: '10/1m', dryRun: true },
    },
    handle: async ({ app, parts: given, change: asked, body }) =>
      planView(await app.triggers.backfill(given.name, { ...body, ...asked })),
  }),
  route({
    method: 'GET',
    path: '/backfills',
    role: 'read',
    group,
    summary: 'Lists backfills of triggers and assets with their progress, newest first.',
    query: z.strictObject({
      trigger: name.optional(),
      asset: name.optional(),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    answer: z.strictObject({ items: z.array(backfillProgress) }),
    example: { query: { limit: '5' } },
    handle: async ({ app, query }) => ({ items: (await app.backfills.list(query)).map(backfillView) }),
  }),
  route({
    method: 'GET',
    path: '/backfills/{id}',
    role: 'read',
    group,
    summary: 'Reads one backfill with its progress.',
    parts,
    answer: backfillProgress,
    example: { parts: { id: aBackfill } },
    handle: async ({ app, parts: { id } }) => backfillView(await app.backfills.get(id)),
  }),
  route({
    method: 'POST',
    path: '/backfills/{id}/start',
    role: 'operate',
    group,
    summary: 'Starts a planned backfill. If it is started twice, it still runs once.',
    parts,
    body: changeBody,
    answer: backfill,
    example: { parts: { id: aBackfill }, body: { dryRun: true } },
    handle: async ({ app, parts: { id }, change: asked }) =>
      backfillView(await app.backfills.start(id, asked)),
  }),
  route({
    method: 'POST',
    path: '/backfills/{id}/cancel',
    role: 'operate',
    group,
    summary:
      'Cancels a backfill: its pending runs are cancelled, its running ones are asked to stop, and no more begin.',
    parts,
    body: changeBody,
    answer: backfill,
    example: { parts: { id: aBackfill }, body: { dryRun: true } },
    handle: async ({ app, parts: { id }, change: asked }) =>
      backfillView(await app.backfills.cancel(id, asked)),
  }),
]
