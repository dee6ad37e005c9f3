/** The routes of jobs, queues, holds and processes. */
import { z } from 'zod'
import type { Hold, HoldTarget } from '../../kernel/hold/hold.js'
import { hold, job, queue, worker } from '../../wire/definitions.js'
import { changeBody, name, page, pageOf, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { holdView, jobView } from '../../wire/views/definitions.js'
import type { App } from '../rota.js'
import { added, definitionBody } from './added.js'
import { held, holdBody, released, releaseBody } from './hold-bodies.js'

const named = z.strictObject({ name })
const drained = z.strictObject({
  items: z.array(z.strictObject({ worker, outcome: z.enum(['changed', 'already', 'gone', 'unable']) })),
})
const switchName = z.enum(['pipeline', 'scheduler', 'worker'])

/** Reads and changes jobs, queues, holds, switches and processes. */
export const operationRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/jobs',
    role: 'read',
    group: 'Jobs',
    summary: 'Lists all jobs, by name.',
    query: z.strictObject(paging),
    answer: page(job),
    example: { query: { limit: '2' } },
    handle: async ({ app, query }) => pageOf((await app.jobs.list()).map(jobView), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/jobs/{name}',
    role: 'read',
    group: 'Jobs',
    summary: 'Reads one job.',
    parts: named,
    answer: job,
    example: { parts: { name: 'greet' } },
    handle: async ({ app, parts }) => jobView(await app.jobs.get(parts.name)),
  }),
  route({
    method: 'POST',
    path: '/jobs',
    role: 'admin',
    group: 'Jobs',
    summary: 'Adds jobs; all or none.',
    body: definitionBody.omit({ triggers: true }),
    answer: added,
    status: 201,
    example: { body: { jobs: { report: { command: ['node', 'report.mjs'] } }, dryRun: true } },
    handle: async ({ app, change, body: { jobs = {}, replace } }) =>
      await app.jobs.add(jobs as never, { replace, ...change }),
  }),
  route({
    method: 'DELETE',
    path: '/jobs/{name}',
    role: 'admin',
    group: 'Jobs',
    summary: 'Removes a job that was added at run time, or that its source no longer defines.',
    parts: named,
    body: changeBody,
    answer: named,
    example: { parts: { name: 'spare' }, body: { dryRun: true } },
    handle: async ({ app, parts, change }) => {
      const removed = await app.jobs.remove(parts.name, change)
      return { name: removed.job.name }
    },
  }),
  route({
    method: 'GET',
    path: '/queues',
    role: 'read',
    group: 'Queues',
    summary: 'Lists all queues, by name, with the number of waiting and running runs of each.',
    query: z.strictObject(paging),
    answer: page(queue),
    example: {},
    handle: async ({ app, query }) => pageOf(await app.queues.list(), query, (one) => one.name),
  }),
  route({
    method: 'POST',
    path: '/queues/{name}/pause',
    role: 'operate',
    group: 'Queues',
    summary: 'Stops claims from a queue; runs in progress continue.',
    parts: named,
    body: holdBody,
    answer: held,
    example: { parts: { name: 'default' }, body: { reason: 'database upgrade', dryRun: true } },
    handle: async ({ app, parts, change, body: { until } }) => ({
      changed: await app.queues.pause(parts.name, { ...change, until }),
    }),
  }),
  route({
    method: 'POST',
    path: '/queues/{name}/resume',
    role: 'operate',
    group: 'Queues',
    summary: 'Allows claims from a queue again.',
    parts: named,
    body: changeBody,
    answer: released,
    example: { parts: { name: 'default' }, body: { dryRun: true } },
    handle: async ({ app, parts, change }) => ({
      changed: await app.queues.resume(parts.name, change),
    }),
  }),
  route({
    method: 'GET',
    path: '/holds',
    role: 'read',
    group: 'Holds',
    summary: 'Lists the holds in force, newest first.',
    query: z.strictObject({
      ...paging,
      target: z
        .string()
        .max(512)
        .regex(
          /^(?:all|(?:trigger|queue|switch):.+)$/,
          'it is not `all`, `trigger:…`, `queue:…` or `switch:…`',
        )
        .optional()
        .meta({ description: '`trigger:<name>`, `queue:<name>`, `switch:<name>` or `all`; default: any.' }),
    }),
    answer: page(hold),
    example: {},
    handle: async ({ app, query: { target, ...query } }) => {
      const asked = { target: target as HoldTarget | undefined, openAt: app.now() }
      const shown = pageOf(await (await app.store()).holds(asked), query, newestFirst)
      return { ...shown, items: shown.items.map(holdView) }
    },
  }),
  route({
    method: 'POST',
    path: '/freeze',
    role: 'admin',
    group: 'Holds',
    summary: 'Stops all ticks and claims in every process; runs in progress continue.',
    body: holdBody,
    answer: held,
    example: { body: { reason: 'database upgrade', dryRun: true } },
    handle: async ({ app, change, body: { until } }) => ({
      changed: await app.freeze({ ...change, until }),
    }),
  }),
  route({
    method: 'POST',
    path: '/thaw',
    role: 'admin',
    group: 'Holds',
    summary: 'Ends a freeze.',
    about: 'Instants that were due meanwhile stay skipped, unless `catchUp` is set.',
    body: releaseBody,
    answer: released,
    example: { body: { catchUp: true, dryRun: true } },
    handle: async ({ app, change, body: { catchUp } }) => ({
      changed: await app.thaw({ ...change, catchUp }),
    }),
  }),
  route({
    method: 'GET',
    path: '/switches',
    role: 'read',
    group: 'Holds',
    summary: 'Lists the three kill switches.',
    answer: z.strictObject({
      items: z.array(z.strictObject({ name: switchName, isOn: z.boolean(), hold: hold.nullable() })),
    }),
    example: {},
    handle: async ({ app }) => {
      const found = await app.switches.list()
      return {
        items: found.map((one) => ({
          ...one,
          hold: one.hold === undefined ? undefined : holdView(one.hold),
        })),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/switches/{name}',
    role: 'admin',
    group: 'Holds',
    summary: 'Turns a kill switch on or off, for every process.',
    parts: z.strictObject({ name: switchName }),
    body: holdBody.extend({ isOn: z.boolean() }),
    answer: held,
    example: { parts: { name: 'worker' }, body: { isOn: false, reason: 'database upgrade', dryRun: true } },
    handle: async ({ app, parts, change, body: { isOn, until } }) => ({
      changed: isOn
        ? await app.switches.on(parts.name, change)
        : await app.switches.off(parts.name, { ...change, until }),
    }),
  }),
  route({
    method: 'GET',
    path: '/workers',
    role: 'read',
    group: 'Workers',
    summary: 'Lists the processes that work on the store.',
    query: z.strictObject(paging),
    answer: page(worker),
    example: {},
    handle: async ({ app, query }) => pageOf(await app.workers.list(), query, (one) => one.id),
  }),
  drainRoute(
    'drain',
    'Drains a process, or all processes of a host: they finish their runs and take no new ones.',
  ),
  drainRoute('undrain', 'Ends the draining of a process, or of all processes of a host.'),
]

/** A key by which holds are ordered, the newest first. */
function newestFirst({ id }: Hold): string {
  return String(Number.MAX_SAFE_INTEGER - id)
}

function drainRoute(verb: 'drain' | 'undrain', summary: string): Route<App> {
  return route({
    method: 'POST',
    path: `/workers/{target}/${verb}`,
    role: 'operate',
    group: 'Workers',
    summary,
    parts: z.strictObject({ target: z.string().max(256) }),
    body: changeBody,
    answer: drained,
    example: { parts: { target: 'web-1' }, body: { dryRun: true } },
    handle: async ({ app, parts: { target }, change }) => ({
      items: await app.workers[verb](target, change),
    }),
  })
}
