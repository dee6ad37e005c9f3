/** The routes of command jobs. */
import { z } from 'zod'
import { change, changeBody, labels, maybeInstant, name, page, paging } from '../../wire/fields.js'
import { pick } from '../../wire/to-json.js'
import { route, type Route } from '../../wire/route.js'
import type { CommandsApp } from './jobs-option.js'
import { jobView } from './state.js'
import { lineView } from './transfer/import.js'

const group = 'Command jobs'
const parts = z.strictObject({ id: name })
const shown = z
  .strictObject({
    id: name,
    type: z.enum(['recurring', 'oneshot']),
    schedule: z.string().nullable(),
    executeAt: maybeInstant,
    command: z.string(),
    userId: z.string(),
    metadata: labels,
    state: z.enum(['created', 'scheduled', 'executing', 'completed', 'executed', 'removed', 'cleaned-up']),
    nextAt: maybeInstant,
    executed: z.boolean(),
    executedAt: maybeInstant,
    isShell: z.boolean(),
    source: z.string(),
  })
  .meta({ id: 'CommandJob' })
const line = z
  .strictObject({
    line: z.number().int(),
    id: z.string().nullable(),
    became: z.enum(['added', 'unchanged', 'executed', 'conflict', 'faulty']),
    source: z.string().nullable(),
    faults: z.array(
      z.strictObject({
        line: z.number().int(),
        column: z.number().int(),
        path: z.string(),
        message: z.string(),
        allowed: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'ImportedLine' })

/** Adds, reads, runs and removes command jobs. */
export const commandJobRoutes: readonly Route<CommandsApp>[] = [
  route({
    method: 'GET',
    path: '/command-jobs',
    role: 'read',
    group,
    summary: 'Lists the command jobs that are not removed, by id.',
    about: 'New lines of a jobs file are listed as soon as the app has read them.',
    query: z.strictObject(paging),
    answer: page(shown),
    example: {},
    handle: async ({ app, query }) => {
      const { jobs, next, count } = await app.commands.page(query)
      return { items: jobs.map(jobView), next, total: { count, capped: false } }
    },
  }),
  route({
    method: 'GET',
    path: '/command-jobs/{id}',
    role: 'read',
    group,
    summary: 'Reads one command job, also one that was removed.',
    parts,
    answer: shown,
    example: { parts: { id: 'job_124' } },
    handle: async ({ app, parts: { id } }) => jobView(await app.commands.get(id)),
  }),
  route({
    method: 'POST',
    path: '/command-jobs',
    role: 'operate',
    group,
    summary: 'Adds a command job, which a running engine schedules at once.',
    about:
      'A recurring one has `schedule`, a one-shot `executeAt`. The job with the name of the command performs it, else the command handler of the app; never a shell. An id that already exists is a conflict.',
    body: z.strictObject({
      ...change,
      id: name.optional().meta({ description: 'Default: `job_` and 128 random bits.' }),
      type: z.enum(['recurring', 'oneshot']),
      schedule: z.string().max(1000).optional().meta({ description: 'A cron expression in UTC.' }),
      executeAt: z.string().max(64).optional().meta({ description: 'Without an offset it is UTC.' }),
      command: z.string().max(65_536),
      userId: z.string().max(1024).optional(),
      metadata: labels.optional(),
    }),
    answer: shown,
    status: 201,
    example: {
      body: {
        id: 'job_125',
        type: 'recurring',
        schedule: '0 9 * * *',
        command: 'greet',
        userId: 'user1',
        dryRun: true,
      },
    },
    handle: async ({ app, change, body: { ...given } }) => {
      const job = pick(given, ['id', 'type', 'schedule', 'executeAt', 'command', 'userId', 'metadata'])
      return jobView(await app.commands.add(job, change))
    },
  }),
  route({
    method: 'DELETE',
    path: '/command-jobs/{id}',
    role: 'operate',
    group,
    summary: 'Removes a command job: a run in progress finishes, pending runs are cancelled.',
    parts,
    body: changeBody,
    answer: shown,
    example: { parts: { id: 'job_124' }, body: { dryRun: true } },
    handle: async ({ app, change, parts: { id } }) => jobView(await app.commands.remove(id, change)),
  }),
  route({
    method: 'POST',
    path: '/command-jobs/{id}/run',
    role: 'operate',
    group,
    summary: 'Runs a command job now; its schedule does not change.',
    parts,
    body: changeBody,
    answer: z.strictObject({ id: z.string(), created: z.boolean() }),
    status: 201,
    example: { parts: { id: 'job_124' }, body: { reason: 'the user asked again', dryRun: true } },
    handle: async ({ app, parts: { id }, change: asked }) => {
      const { id: run, created } = await app.commands.runNow(id, asked)
      return { id: run, created }
    },
  }),
  route({
    method: 'POST',
    path: '/command-jobs/cleanup',
    role: 'operate',
    group,
    summary: 'Removes executed one-shots, which also happens once a day.',
    body: changeBody,
    answer: z.strictObject({ removed: z.array(name), executed: z.array(name) }),
    example: { body: { dryRun: true } },
    handle: async ({ app, change, body: { dryRun = false } }) => {
      const executed = await app.commands.cleanup(change)
      return { removed: dryRun ? [] : executed, executed }
    },
  }),
  route({
    method: 'GET',
    path: '/command-jobs/export',
    role: 'read',
    group,
    summary: 'Writes all command jobs as the text of a jobs file, one JSON map per line.',
    answer: z.strictObject({ text: z.string() }),
    example: {},
    handle: async ({ app }) => ({ text: await app.commands.export() }),
  }),
  route({
    method: 'POST',
    path: '/command-jobs/import',
    role: 'operate',
    group,
    summary: 'Adds the jobs of a text with one JSON map per line, and returns the result of each line.',
    about: 'Faulty lines are skipped; with `strict`, one faulty line refuses all.',
    body: z.strictObject({ ...change, text: z.string(), strict: z.boolean().optional() }),
    answer: z.strictObject({ items: z.array(line) }),
    example: {
      body: {
        text: '{"id":"job_126","type":"oneshot","execute_at":"2027-01-05T09:00:00Z","command":"greet","user_id":"user1"}\n',
        dryRun: true,
      },
    },
    handle: async ({ app, change, body: { text, strict } }) => ({
      items: (await app.commands.importText(text, { strict, ...change })).map(lineView),
    }),
  }),
]
