/** The routes of rounds and their services. */
import { z } from 'zod'
import { change, changeBody, instant, maybeInstant, name, page, pageOf, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { RoundOptions } from './api.js'
import { listRounds, oneRound, type RoundsApp } from './json-views.js'

const group = 'Rounds'
const parts = z.strictObject({ name })
const every = z
  .union([z.string().max(64), z.number()])
  .meta({ description: 'A duration such as "10m", or milliseconds.' })
const result = z.strictObject({ service: name, status: z.enum(['ok', 'error']), info: z.string() })
const round = z
  .strictObject({
    name,
    intervalMs: z.number(),
    services: z.array(name),
    checkedAt: maybeInstant,
    resumed: z.boolean(),
    currentService: name.nullable(),
    remainingServices: z.array(name),
    completedCount: z.number().int(),
    results: z.array(result),
    skipped: z.array(
      z.looseObject({ service: name, reason: z.enum(['not_due', 'in_flight', 'tried', 'replaced']) }),
    ),
    nextCheckAt: maybeInstant,
    state: z.enum(['on', 'paused', 'frozen', 'switched off', 'disabled', 'over', 'stopped']),
    source: z.string(),
    cycle: z
      .strictObject({
        checkedAt: instant,
        servicesQueue: z.array(name),
        currentService: name.nullable(),
        results: z.array(result),
      })
      .nullable(),
  })
  .meta({ id: 'Round' })
const service = z
  .strictObject({
    service: name,
    lastRunTimestamp: z.number().int().nullable(),
    intervalSeconds: z.number(),
    nextDueTimestamp: z.number().int().nullable(),
  })
  .meta({ id: 'Service' })
const started = z.strictObject({ round: round.nullable(), warning: z.string().nullable() })
const afterDryRun = 'A dry run returns the current round, or null if it is new.'

/** Reads, starts, changes and stops rounds, and the timing of services. */
export const roundRoutes: readonly Route<RoundsApp>[] = [
  route({
    method: 'GET',
    path: '/rounds',
    role: 'read',
    group,
    summary: 'Lists the rounds, by name, with their last check or open cycle.',
    query: z.strictObject({
      ...paging,
      all: z.stringbool().default(false).meta({ description: 'Also the stopped ones.' }),
    }),
    answer: page(round),
    example: { query: { all: 'true' } },
    handle: async ({ app, query }) => pageOf(await listRounds(app, query), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/rounds/{name}',
    role: 'read',
    group,
    summary: 'Reads one round: its services, its last check or open cycle, and its next check.',
    parts,
    answer: round,
    example: { parts: { name: 'crawlers' } },
    handle: async ({ app, parts: given }) => await oneRound(app, given.name),
  }),
  route({
    method: 'PUT',
    path: '/rounds/{name}',
    role: 'admin',
    group,
    summary: 'Starts a round, or gives a running one another interval, list of services or SLA.',
    about: `Omitted fields do not change. ${afterDryRun}`,
    parts,
    body: z.strictObject({
      ...change,
      every: every.optional(),
      services: z
        .array(z.union([name, z.strictObject({ job: name, every: every.optional() })]))
        .max(10_000)
        .optional()
        .meta({
          description: 'Jobs in order; with `every`, a service runs less often than the round checks.',
        }),
      priority: z.number().int().optional(),
      calendar: z.looseObject({}).optional().meta({
        description: 'Calendars in which it checks (`include`) or does not check (`exclude`), by name.',
      }),
      blackouts: z
        .array(z.looseObject({}))
        .max(1000)
        .optional()
        .meta({ description: 'Periods in which it never checks, as in a config.' }),
      timezone: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'The IANA zone of the days of its calendars; default: UTC.' }),
      sla: z.looseObject({}).optional().meta({
        description: 'Promises about its checks, as in a config. They replace all that it had.',
      }),
    }),
    answer: started,
    example: {
      parts: { name: 'crawlers' },
      body: {
        every: '1h',
        services: ['crawl', { job: 'report', every: '24h' }],
        sla: { finishedWithin: '20m' },
        dryRun: true,
      },
    },
    handle: async ({ app, change, parts: given, body }) => {
      const { reason: _, dryRun, ...options } = body
      await app.rounds.start(given.name, { ...(options as Partial<RoundOptions>), ...change })
      return await startedRound(app, given.name, dryRun)
    },
  }),
  route({
    method: 'POST',
    path: '/rounds/{name}/start',
    role: 'operate',
    group,
    summary: 'Restarts a stopped round; it continues with the remaining services.',
    about: afterDryRun,
    parts,
    body: changeBody,
    answer: started,
    example: { parts: { name: 'crawlers' }, body: { dryRun: true } },
    handle: async ({ app, change, parts: given, body: { dryRun } }) => {
      await app.rounds.start(given.name, change)
      return await startedRound(app, given.name, dryRun)
    },
  }),
  route({
    method: 'POST',
    path: '/rounds/{name}/stop',
    role: 'operate',
    group,
    summary: 'Stops a round that was started at run time, after its current service.',
    about: '`left` is the number of services that remain for its next start.',
    parts,
    body: changeBody,
    answer: z.strictObject({ name, stopped: z.boolean(), left: z.number().int() }),
    example: { parts: { name: 'crawlers' }, body: { dryRun: true } },
    handle: async ({ app, change, parts: given, body: { dryRun } }) => {
      await app.rounds.stop(given.name, change)
      const [kept] = await app.rounds.state(given.name)
      const left = kept === undefined ? 0 : kept.servicesQueue.length + (kept.currentService === null ? 0 : 1)
      return { name: given.name, stopped: dryRun !== true, left }
    },
  }),
  route({
    method: 'GET',
    path: '/services',
    role: 'read',
    group,
    summary: 'Lists when services ran last and are due again, in Unix seconds.',
    answer: z.strictObject({ items: z.array(service) }),
    example: {},
    handle: async ({ app }) => ({ items: await app.rounds.services() }),
  }),
  route({
    method: 'GET',
    path: '/services/{name}',
    role: 'read',
    group,
    summary: 'Reads when one service ran last and is due again.',
    parts,
    answer: service,
    example: { parts: { name: 'crawl' } },
    handle: async ({ app, parts: given }) => await app.rounds.timing(given.name),
  }),
  route({
    method: 'PUT',
    path: '/services/{name}/timing',
    role: 'operate',
    group,
    summary: 'Sets the interval of a service in all rounds.',
    parts,
    body: z.strictObject({ ...change, every }),
    answer: service,
    example: { parts: { name: 'crawl' }, body: { every: '12h', dryRun: true } },
    handle: async ({ app, change, parts: given, body: { every: interval } }) =>
      await app.rounds.setTiming(given.name, { every: interval, ...change }),
  }),
]

async function startedRound(app: RoundsApp, round: string, dryRun: boolean | undefined) {
  const { roundWarning } = await import('./store-rounds.js')
  const all = await listRounds(app, { all: true, name: round })
  const [found] = all
  if (dryRun === true && found === undefined) return { round: undefined, warning: undefined }
  return { round: found, warning: await roundWarning(await app.store(), round) }
}
