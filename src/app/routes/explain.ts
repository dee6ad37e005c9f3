/** The routes that explain: why, coverage, the ledger, findings and previews. */
import { z } from 'zod'
import {
  coverage,
  coveredDay,
  finding,
  ledgerEntry,
  ledgerReason,
  slaBreach,
  preview as previewSchema,
  why,
} from '../../wire/explain.js'
import { instant, instantInput, name, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { pendingView } from '../../wire/views/runs.js'
import { whyView } from '../../wire/views/why.js'
import type { Why } from '../../engine/explain/why.js'
import { describe } from '../explain/describe.js'
import { preview } from '../explain/preview.js'
import type { App } from '../rota.js'
import { breaches } from '../../engine/explain/breaches.js'
import { jobKey } from '../../kernel/sla/deadline.js'
import { breachView } from '../../wire/views/breaches.js'
import { coverageDaysPage } from './coverage-days-page.js'
import { whyAllPending } from '../runs/waiting.js'

const group = 'Explain'

/** Explains past and future due instants. */
export const explainRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/why',
    tool: 'why',
    role: 'read',
    group,
    summary: 'Explains the due instants of a trigger between two instants.',
    query: z.strictObject({ trigger: name, from: instantInput, until: instantInput.optional() }),
    answer: why,
    example: { query: { trigger: 'nightly', from: '2026-01-05T00:00:00Z', until: '2026-01-06T00:00:00Z' } },
    handle: async ({ app, query: { trigger, from, until } }) =>
      await explained(app, await app.why(trigger, { from, ...(until === undefined ? {} : { until }) })),
  }),
  route({
    method: 'GET',
    path: '/coverage',
    tool: 'coverage',
    role: 'read',
    group,
    summary: 'Compares the computed due instants with the ledger: the number of unexplained ones must be 0.',
    query: z.strictObject({ trigger: name.optional(), since: instantInput.optional() }),
    answer: z.strictObject({ items: z.array(coverage) }),
    example: { query: { trigger: 'nightly' } },
    handle: async ({ app, query: { trigger, since } }) => ({
      items: await app.coverage({
        ...(trigger === undefined ? {} : { trigger }),
        ...(since === undefined ? {} : { since }),
      }),
    }),
  }),
  route({
    method: 'GET',
    path: '/coverage/days',
    role: 'read',
    group,
    summary: 'Counts the due instants of triggers by disposition and by day in UTC.',
    about:
      'A request computes up to 200,000 due instants; the coverage of days beyond that is null until you repeat the request. A day that is planned to its end is counted only once.',
    query: z.strictObject({
      trigger: z.union([name.transform((one) => [one]), z.array(name).max(50)]).optional(),
      days: z.coerce.number().int().min(1).max(366).default(30),
      limit: z.coerce.number().int().min(1).max(50).default(20),
      after: name.optional().meta({ description: '`next` of the previous page.' }),
    }),
    answer: z.strictObject({
      fromAt: instant,
      untilAt: instant,
      items: z.array(z.strictObject({ trigger: name, days: z.array(coveredDay) })),
      next: name.nullable(),
    }),
    example: { query: { trigger: 'nightly', days: '7' } },
    handle: async ({ app, query }) => await coverageDaysPage(app, query),
  }),
  route({
    method: 'GET',
    path: '/ledger',
    tool: 'list_ledger',
    role: 'read',
    group,
    summary: 'Lists ranges of due instants that did not become runs, the newest recorded first.',
    query: z.strictObject({
      limit: paging.limit,
      before: z.coerce.number().int().optional(),
      trigger: z.union([name.transform((one) => [one]), z.array(name).max(100)]).optional(),
      reason: z.union([ledgerReason.transform((one) => [one]), z.array(ledgerReason)]).optional(),
      from: instantInput
        .optional()
        .meta({ description: 'Ranges that were recorded at this instant or later.' }),
      until: instantInput
        .optional()
        .meta({ description: 'Ranges that were recorded at this instant or earlier.' }),
    }),
    about:
      'The first page also lists the breaches (SLA) of the same triggers in the same time. A late run is still a run, so a breach is not a range.',
    answer: z.strictObject({
      items: z.array(ledgerEntry),
      breaches: z.array(slaBreach),
      next: z.number().int().nullable(),
    }),
    example: { query: { limit: '5' } },
    handle: async ({ app, query: { limit, before, trigger: triggers, reason: reasons, from, until } }) => {
      const times = { fromAt: from?.getTime(), untilAt: until?.getTime() }
      const store = await app.store()
      const items = await store.ledgerPage({ limit, before, triggers, reasons, ...times })
      // A filter by reason selects only ranges.
      const isBeside = before === undefined && reasons === undefined
      const beside = isBeside ? await breaches(store, { names: triggers, ...times, limit }) : []
      return {
        items,
        breaches: beside.map(breachView),
        next: items.length < limit ? undefined : items.at(-1)?.seq,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/breaches',
    tool: 'list_breaches',
    role: 'read',
    group,
    summary: 'Lists breaches of the SLAs of triggers, rounds, jobs and assets, the newest first.',
    query: z.strictObject({
      limit: paging.limit,
      trigger: name.optional().meta({ description: 'Those of a trigger or round.' }),
      job: name.optional().meta({ description: 'Those of a job or asset.' }),
      from: instantInput.optional(),
      until: instantInput.optional(),
    }),
    answer: z.strictObject({ items: z.array(slaBreach) }),
    example: { query: { trigger: 'nightly' } },
    handle: async ({ app, query: { limit, trigger, job, from, until } }) => {
      const asked = [...(trigger === undefined ? [] : [trigger]), ...(job === undefined ? [] : [jobKey(job)])]
      const names = asked.length === 0 ? undefined : asked
      const times = { fromAt: from?.getTime(), untilAt: until?.getTime() }
      return { items: (await breaches(await app.store(), { names, ...times, limit })).map(breachView) }
    },
  }),
  route({
    method: 'GET',
    path: '/doctor',
    tool: 'doctor',
    role: 'read',
    group,
    summary: 'Finds problems and says what to do about each.',
    answer: z.strictObject({ items: z.array(finding) }),
    example: {},
    handle: async ({ app }) => ({ items: await app.doctor() }),
  }),
  route({
    method: 'POST',
    path: '/preview',
    isQuestion: true,
    tool: 'preview_cron',
    role: 'read',
    group,
    summary: 'Lists the next due instants of a cron expression, with the effect of daylight saving changes.',
    body: z.strictObject({
      expression: z.string().max(1000),
      timezone: z.string().max(100).default('UTC'),
      dst: z.enum(['vixie', 'skip', 'real-time']).optional(),
      from: instantInput.optional(),
      count: z.number().int().min(1).max(1000).default(10),
    }),
    answer: previewSchema,
    example: {
      body: { expression: '30 2 * * *', timezone: 'Europe/Berlin', from: '2026-03-28T00:00:00Z', count: 3 },
    },
    handle: async ({ app, body: { from, dst, ...request } }) => {
      const found = preview({ ...request, dst, from: from?.getTime() ?? app.now() })
      return { ...found, description: describe(request.expression), nextAt: found.occurrences[0]?.at }
    },
  }),
]

async function explained(app: App, why: Why) {
  const runs = why.explanations.flatMap((one) => (one.kind === 'run' ? [one.run] : []))
  const found = await whyAllPending(await app.store(), { runs: [...runs, ...why.beside], now: app.now() })
  return whyView(why, (run) => (found.get(run.id) ?? []).map(pendingView))
}
