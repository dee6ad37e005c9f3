/** The routes of plans. They read only the plan files that the app names. */
import { z } from 'zod'
import { changeBody, instant, json, name, page, pageOf, paging } from '../../wire/fields.js'
import { pick } from '../../wire/to-json.js'
import { route, type Route } from '../../wire/route.js'
import type { Plans } from './api.js'
import { entryView } from './check.js'
import type { PlanEntry } from './definition.js'

/** What these routes use of an app. */
export interface PlansApp {
  readonly plans: Plans
}

const group = 'Plans'
const planName = z.string().min(1).max(1024).meta({ description: 'Its path; slashes become `%2F`.' })
const parts = z.strictObject({ plan: planName })
const entryFields = { jobId: z.string(), runId: z.string(), dueAt: instant }
const entry = z
  .strictObject({
    ...entryFields,
    publishAt: z.string(),
    local: z.string(),
    standing: z.enum(['missed', 'due', 'future']),
    pipelinePath: z.string(),
    runIdBase: z.string(),
    params: json,
  })
  .meta({ id: 'PlanEntry' })
const plan = z
  .strictObject({ name, isNamed: z.boolean(), entries: z.number().int(), open: z.number().int() })
  .meta({ id: 'Plan' })
const minutes = (most: number, usual: number) => z.coerce.number().int().min(0).max(most).default(usual)
const aPlan = 'schedule_plan.yaml'

/** Reads plans, and enqueues single entries. */
export const planRoutes: readonly Route<PlansApp>[] = [
  route({
    method: 'GET',
    path: '/plans',
    role: 'read',
    group,
    summary: 'Lists the plans that the app names, and other plans with entries in the store.',
    query: z.strictObject(paging),
    answer: page(plan),
    example: {},
    handle: async ({ app, query }) => pageOf(await app.plans.list(), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/plans/{plan}',
    role: 'read',
    group,
    summary: 'Reads and checks a plan and the pipeline files of its future entries, and lists its entries.',
    about: 'All faults are in `errors`, each with its place.',
    parts,
    answer: z.strictObject({ name, timezone: z.string(), entries: z.array(entry) }),
    example: { parts: { plan: aPlan } },
    handle: async ({ app, parts: { plan } }) => {
      const { timezone, entries } = await app.plans.check(plan)
      return { name: plan, timezone, entries: entries.map(entryView) }
    },
  }),
  route({
    method: 'GET',
    path: '/plans/{plan}/pass',
    role: 'read',
    group,
    summary: 'Says what a pass of `rota schedule` over a plan would enqueue, what it would skip, and why.',
    parts,
    query: z.strictObject({ windowMinutes: minutes(527_040, 10), lookBackMinutes: minutes(527_040, 1440) }),
    answer: z.strictObject({
      enqueued: z.array(z.strictObject(entryFields)),
      skipped: z.array(
        z.strictObject({
          ...entryFields,
          code: z.enum(['entry_not_due', 'entry_missed', 'already_enqueued', 'scheduler_disabled']),
          message: z.string(),
        }),
      ),
    }),
    example: { parts: { plan: aPlan }, query: { windowMinutes: '60' } },
    handle: async ({ app, parts: { plan }, query: { windowMinutes, lookBackMinutes } }) => {
      const window = windowMinutes * 60_000
      const lookBack = lookBackMinutes * 60_000
      const { enqueued, skipped } = await app.plans.rehearse(plan, { window, lookBack })
      return {
        enqueued: enqueued.map(idsOf),
        skipped: skipped.map(({ entry: one, code, message }) => ({ ...idsOf(one), code, message })),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/plans/{plan}/entries/{id}/enqueue',
    role: 'operate',
    group,
    summary: 'Enqueues one entry of a plan, also one that was missed.',
    about: 'An entry that was enqueued before is not enqueued again.',
    parts: z.strictObject({ plan: planName, id: z.string().max(512) }),
    body: changeBody,
    answer: z.strictObject({ ...entryFields, outcome: z.enum(['enqueued', 'already_enqueued']) }),
    example: { parts: { plan: aPlan, id: '96b0037ff184' }, body: { dryRun: true } },
    handle: async ({ app, change, parts: { plan, id } }) => {
      const { entry: found, outcome } = await app.plans.enqueue(plan, id, change)
      return { ...idsOf(found), outcome }
    },
  }),
]

function idsOf(one: PlanEntry) {
  return pick(one, ['jobId', 'runId', 'dueAt'])
}
