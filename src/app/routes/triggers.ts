/** The routes of triggers. */
import { z } from 'zod'
import { trigger, triggerVersion } from '../../wire/definitions.js'
import { change, instant, name, pageBothWays, pagingBothWays } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { formatLocal } from '../../time/local-time.js'
import { zoneOf } from '../../time/zone.js'
import type { App } from '../rota.js'
import { enqueuedAgain } from './enqueued-again.js'
import { added, definitionBody } from './added.js'
import { versionView } from '../../wire/views/definitions.js'
import { holdBody, held, releaseBody, released } from './hold-bodies.js'
import { nextInstants } from '../explain/next-instants.js'
import { triggersPage, triggerOf } from './triggers-page.js'

const group = 'Triggers'
const parts = z.strictObject({ name })

/** Reads, adds, changes, pauses and runs triggers. */
export const triggerRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/triggers',
    tool: 'list_triggers',
    role: 'read',
    group,
    summary: 'Lists triggers, by name or by their next due instant.',
    query: z.strictObject({
      ...pagingBothWays,
      order: z.enum(['name', 'next']).default('name'),
      search: z.string().max(256).optional().meta({ description: 'A part of the name, in any case.' }),
      job: name.optional(),
      queue: name.optional().meta({ description: 'Triggers whose jobs are in this queue.' }),
      source: z.string().max(256).optional(),
      state: z.enum(['active', 'paused', 'ended', 'any']).default('active'),
    }),
    answer: pageBothWays(trigger),
    example: { query: { order: 'next', limit: '2' } },
    handle: async ({ app, query }) => await triggersPage(app, query),
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}',
    tool: 'read_trigger',
    role: 'read',
    group,
    summary: 'Reads one trigger.',
    parts,
    answer: trigger,
    example: { parts: { name: 'nightly' } },
    etag: 'tag',
    handle: async ({ app, parts: given }) => await triggerOf(app, given.name),
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}/next',
    tool: 'next_instants',
    role: 'read',
    group,
    summary: 'Lists the next due instants of a trigger.',
    parts,
    query: z.strictObject({
      count: z.coerce.number().int().min(1).max(1000).default(10),
      zone: z.string().max(100).default('UTC').meta({ description: 'The zone of `local`.' }),
    }),
    answer: z.strictObject({ items: z.array(z.strictObject({ at: instant, local: z.string() })) }),
    example: { parts: { name: 'nightly' }, query: { count: '3', zone: 'Europe/Berlin' } },
    handle: async ({ app, parts: given, query: { count, zone } }) => {
      const { trigger: found } = await app.triggers.get(given.name)
      const place = zoneOf(zone)
      const next = nextInstants(found.schedule, { after: app.now(), count })
      return { items: next.map((at) => ({ at, local: formatLocal(at, place) })) }
    },
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}/versions',
    role: 'read',
    group,
    summary: 'Lists the definitions that a trigger has had, oldest first.',
    parts,
    answer: z.strictObject({ items: z.array(triggerVersion) }),
    example: { parts: { name: 'nightly' } },
    handle: async ({ app, parts: given }) => {
      const found = await (await app.store()).versions((await app.triggers.get(given.name)).trigger.name)
      const items = found.map(versionView)
      return { items }
    },
  }),
  route({
    method: 'POST',
    path: '/triggers',
    role: 'admin',
    group,
    summary: 'Adds triggers, and new jobs for them; all or none.',
    about:
      'The definitions have the format of a config file. Without `replace`, a name that exists is refused.',
    body: definitionBody,
    answer: added,
    status: 201,
    example: { body: { triggers: { weekly: { job: 'greet', cron: '0 8 * * 1' } }, dryRun: true } },
    handle: async ({ app, change: options, body: { triggers = {}, jobs, replace } }) =>
      await app.triggers.add(triggers as never, { jobs: jobs as never, replace, ...options }),
  }),
  route({
    method: 'DELETE',
    path: '/triggers/{name}',
    role: 'admin',
    group,
    summary: 'Ends a trigger that was added at run time; its pending runs are cancelled, its history stays.',
    parts,
    body: z.strictObject(change),
    answer: z.strictObject({ name }),
    example: { parts: { name: 'hourly' }, body: { dryRun: true } },
    handle: async ({ app, parts: given, change: options }) => {
      const { trigger: removed } = await app.triggers.remove(given.name, options)
      return { name: removed.name }
    },
  }),
  route({
    method: 'POST',
    path: '/triggers/{name}/run',
    tool: 'run_trigger',
    role: 'operate',
    group,
    summary: 'Runs the job of a trigger now; its schedule does not change.',
    parts,
    body: z.strictObject({ ...change, partition: z.string().max(512).optional() }),
    answer: z.strictObject({ id: z.string(), created: z.boolean() }),
    status: 201,
    example: { parts: { name: 'nightly' }, body: { reason: 'late data', dryRun: true } },
    handle: async ({ app, parts: given, change: options, body: { partition } }) =>
      await app.triggers.runNow(given.name, { ...options, partition }),
    again: async (_call, changed) => enqueuedAgain(changed),
  }),
  route({
    method: 'POST',
    path: '/triggers/{name}/pause',
    tool: 'pause_trigger',
    role: 'operate',
    group,
    summary: 'Pauses a trigger, until an instant or until it is resumed.',
    parts,
    body: holdBody,
    answer: held,
    example: { parts: { name: 'nightly' }, body: { reason: 'database upgrade', dryRun: true } },
    handle: async ({ app, parts: given, change: options, body: { until } }) => ({
      changed: await app.triggers.pause(given.name, { ...options, until }),
    }),
  }),
  route({
    method: 'POST',
    path: '/triggers/{name}/resume',
    tool: 'resume_trigger',
    role: 'operate',
    group,
    summary: 'Resumes a trigger.',
    about: 'Instants that were due meanwhile stay skipped, unless `catchUp` is set.',
    parts,
    body: releaseBody,
    answer: released,
    example: { parts: { name: 'nightly' }, body: { catchUp: true, dryRun: true } },
    handle: async ({ app, parts: given, change: options, body: { catchUp } }) => ({
      changed: await app.triggers.resume(given.name, { ...options, catchUp }),
    }),
  }),
]
