/** The routes of runs. */
import { z } from 'zod'
import {
  change,
  changeBody,
  instantInput,
  json,
  name,
  pageBothWays,
  paging,
  pagingBothWays,
} from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { runConditionFields } from '../../wire/run-query/fields.js'
import { attempt, errorGroup, logLine, pendingReason, run } from '../../wire/runs.js'
import { attemptView, logLineView, pendingView, runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'
import { enqueuedAgain } from './enqueued-again.js'
import { errorGroups } from './error-groups.js'
import { logStream } from './log-stream.js'
import { lateRuns, runsPage } from './runs-page.js'

const group = 'Runs'
const key = z.string().max(512)
const parts = z.strictObject({ id: z.string().min(4).max(64) })
const aRun = '20260105t0900'
const aFailedRun = '20260105t0800'
const aWaitingRun = '20260105t1000'

/** Reads, records, cancels and retries runs. */
export const runRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/runs',
    tool: 'list_runs',
    role: 'read',
    group,
    summary: 'Lists runs, the newest due instant first.',
    about:
      'If no index supports the filter, a page searches through 100,000 runs: it may then have fewer runs than `limit`, and `next` continues the search.',
    query: z.strictObject({ ...pagingBothWays, ...runConditionFields }),
    answer: pageBothWays(run),
    example: { query: { q: 'state:failed,cancelled due:2026-01-05', limit: '2' } },
    handle: async ({ app, query }) => await runsPage(app, query),
  }),
  route({
    method: 'GET',
    path: '/runs/late',
    role: 'read',
    group,
    summary:
      'Lists pending runs that should have started, the longest overdue first, with what they wait for.',
    query: z.strictObject({
      limit: paging.limit,
      byMs: z.coerce
        .number()
        .int()
        .min(0)
        .default(60_000)
        .meta({ description: 'By how many milliseconds a run is overdue at least.' }),
    }),
    answer: z.strictObject({
      items: z.array(z.strictObject({ run, pending: z.array(json) })),
      more: z.boolean(),
    }),
    example: { query: { byMs: '0' } },
    handle: async ({ app, query }) => await lateRuns(app, query),
  }),
  route({
    method: 'GET',
    path: '/runs/errors',
    role: 'read',
    group,
    summary: 'Groups the newest 1,000 failed runs by the code and the shape of their errors.',
    query: z.strictObject(runConditionFields),
    answer: z.strictObject({
      items: z.array(errorGroup),
      runs: z.strictObject({ count: z.number().int(), capped: z.boolean() }),
    }),
    example: { query: { q: 'since:2026-01-05' } },
    handle: async ({ app, query }) => await errorGroups(app, query),
  }),
  route({
    method: 'GET',
    path: '/runs/{id}',
    tool: 'read_run',
    role: 'read',
    group,
    summary: 'Reads one run, by its id or the beginning of it.',
    parts,
    answer: run,
    example: { parts: { id: aRun } },
    handle: async ({ app, parts: { id } }) => runView(await app.runs.get(id)),
  }),
  route({
    method: 'GET',
    path: '/runs/{id}/attempts',
    tool: 'list_attempts',
    role: 'read',
    group,
    summary: 'Lists the attempts of a run, oldest first.',
    parts,
    answer: z.strictObject({ items: z.array(attempt) }),
    example: { parts: { id: aRun } },
    handle: async ({ app, parts: { id } }) => {
      const { id: whole } = await app.runs.get(id)
      return { items: (await app.runs.attempts(whole)).map(attemptView) }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{id}/logs',
    tool: 'read_log',
    isStream: true,
    role: 'read',
    group,
    summary: 'Reads the log of a run.',
    about:
      'With `follow`, the answer is a stream with one JSON object per line, which ends when the run is final.',
    parts,
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(500),
      follow: z.stringbool().default(false),
    }),
    answer: z.strictObject({ items: z.array(logLine), next: z.number().int() }),
    example: { parts: { id: aRun }, query: { limit: '100' } },
    handle: async ({ app, parts: { id }, query, request }) => {
      const { id: whole } = await app.runs.get(id)
      if (query.follow) return logStream(app, { id: whole, after: query.after, signal: request.signal })
      const items = await app.runs.logs(whole, query)
      return { items: items.map(logLineView), next: items.at(-1)?.seq ?? query.after }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{id}/pending',
    tool: 'why_pending',
    role: 'read',
    group,
    summary: 'Returns why a run has not been started, the main reason first.',
    parts,
    answer: z.strictObject({ reasons: z.array(pendingReason) }),
    example: { parts: { id: aWaitingRun } },
    handle: async ({ app, parts: { id } }) => ({ reasons: (await app.runs.whyPending(id)).map(pendingView) }),
  }),
  route({
    method: 'POST',
    path: '/runs',
    tool: 'enqueue',
    role: 'operate',
    group,
    summary: 'Records a run of a job.',
    about:
      'If another run has the unique key, or debounce or throttle replaces this run by another one, the answer is that run, and `created` is false.',
    body: z.strictObject({
      job: name,
      payload: json.optional(),
      at: instantInput.optional(),
      delay: z.string().max(64).optional(),
      priority: z.number().int().optional(),
      uniqueKey: key.optional(),
      concurrencyKey: key.optional(),
      partition: z.string().max(512).optional(),
      uniqueFor: z.string().max(64).optional(),
      debounce: z
        .strictObject({ key, wait: z.string().max(64), max: z.string().max(64).optional() })
        .optional(),
      throttle: z.strictObject({ key, per: z.string().max(64) }).optional(),
      ...change,
    }),
    answer: z.strictObject({ id: z.string(), created: z.boolean() }),
    status: 201,
    example: { body: { job: 'greet', payload: { name: 'Ann' } } },
    handle: async ({ app, body, change: options }) => {
      const { job, payload, ...given } = body
      const { id, created } = await app.enqueue(job, payload, { ...given, ...options })
      return { id, created }
    },
    again: async (_call, changed) => enqueuedAgain(changed),
  }),
  route({
    method: 'POST',
    path: '/runs/{id}/cancel',
    tool: 'cancel_run',
    role: 'operate',
    group,
    summary: 'Cancels a run: a pending one immediately, a running one as soon as its worker has stopped it.',
    parts,
    body: changeBody,
    answer: z.strictObject({ run, requested: z.boolean() }),
    example: { parts: { id: aWaitingRun }, body: { reason: 'not needed', dryRun: true } },
    handle: async ({ app, parts: { id }, change }) => {
      const { run: cancelled, requested } = await app.runs.cancel(id, change)
      return { run: runView(cancelled), requested }
    },
    again: async ({ app, parts: { id } }) => {
      const found = await app.runs.get(id)
      return { run: runView(found), requested: found.state === 'running' }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{id}/retry',
    tool: 'retry_run',
    role: 'operate',
    group,
    summary: 'Makes a failed or cancelled run pending again, with all its tries.',
    parts,
    body: changeBody,
    answer: run,
    example: { parts: { id: aFailedRun }, body: { reason: 'fixed', dryRun: true } },
    handle: async ({ app, parts: { id }, change }) => runView(await app.runs.retry(id, change)),
    again: async ({ app, parts: { id } }) => runView(await app.runs.get(id)),
  }),
  route({
    method: 'POST',
    path: '/runs/{id}/advance',
    role: 'operate',
    group,
    summary: 'Makes a delayed run, or one that waits for its next attempt, claimable immediately.',
    about: 'A dry run returns the unchanged run.',
    parts,
    body: changeBody,
    answer: run,
    example: { parts: { id: aWaitingRun }, body: { reason: 'needed now', dryRun: true } },
    handle: async ({ app, parts: { id }, change: options }) => runView(await app.runs.advance(id, options)),
    again: async ({ app, parts: { id } }) => runView(await app.runs.get(id)),
  }),
]
