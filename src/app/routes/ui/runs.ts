/** The routes of the pages of runs: completion of a filter, and runs that failed in the same way. */
import { z } from 'zod'
import { groupErrors } from '../../../kernel/run/error-shape.js'
import type { Store } from '../../../store/port.js'
import { name } from '../../../wire/fields.js'
import { completeQuery, type Completion } from '../../../wire/run-query/complete.js'
import { parseRunQuery } from '../../../wire/run-query/run-query.js'
import { longestQuery } from '../../../wire/run-query/terms.js'
import { route, type Route } from '../../../wire/route.js'
import { errorGroup } from '../../../wire/runs.js'
import { queryHelp } from '../../../wire/ui.js'
import { runView } from '../../../wire/views/runs.js'
import type { App } from '../../rota.js'
import { newestFailed } from '../error-groups.js'
import { listOf } from './query.js'

const group = 'Dashboard'
const mostNames = 12
const mostJobs = 100
/** Error codes are taken from this many of the newest failed runs. */
const failedForCodes = 200

/** Reads completions of a filter, and runs that failed like another one. */
export const runPageRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/ui/runs/filter',
    role: 'read',
    group,
    isPrivate: true,
    summary: 'Returns the faults of a filter of runs, and completions at the cursor.',
    query: z.strictObject({
      q: z.string().max(longestQuery + 1),
      cursor: z.coerce.number().int().min(0).default(longestQuery),
      zone: z.string().max(100).default('UTC'),
    }),
    answer: queryHelp,
    example: { query: { q: 'state:failed jo', cursor: '15' } },
    handle: async ({ app, query: { q, cursor, zone } }) => {
      const { faults } = parseRunQuery(q, { zone, now: app.now() })
      const completion = completeQuery(q, Math.min(cursor, q.length))
      const names = await namesFor(await app.store(), completion)
      const { from, to, typed } = completion
      const options = [
        ...completion.options.map(({ text, help }) => ({ text, about: help })),
        ...names.map((name) => ({ text: quoted(name), about: completion.names ?? '' })),
      ].filter(({ text }) => text !== typed)
      return {
        faults: faults.map((fault) => ({ ...fault, allowed: fault.allowed ?? null })),
        from,
        to,
        options,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/ui/runs/{id}/alike',
    role: 'read',
    group,
    isPrivate: true,
    summary: 'Reads the group of failed runs of the same job to which the error of a run belongs.',
    parts: z.strictObject({ id: z.string().min(4).max(64) }),
    answer: z.strictObject({ group: errorGroup.nullable(), capped: z.boolean() }),
    example: { parts: { id: '20260105t0800' } },
    handle: async ({ app, parts: { id } }) => {
      const run = await app.runs.get(id)
      if (run.error === undefined) return { group: null, capped: false }
      const [own] = groupErrors([run])
      const { runs, isCapped } = await newestFailed(await app.store(), { job: run.job })
      const found = groupErrors(runs).find(({ code, shape }) => code === own?.code && shape === own.shape)
      return {
        group: found === undefined ? null : { ...found, example: runView(found.example) },
        capped: isCapped,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/ui/attempts',
    role: 'read',
    group,
    isPrivate: true,
    summary: 'Says how many attempts jobs allow; a job that nobody defines any more is left out.',
    query: z.strictObject({ jobs: listOf(name, mostJobs) }),
    answer: z.strictObject({ items: z.array(z.strictObject({ job: name, attempts: z.number().int() })) }),
    example: { query: { jobs: 'mail' } },
    handle: async ({ app, query: { jobs } }) => {
      const stored = await (await app.store()).jobs()
      const asked = stored.filter(({ job }) => jobs.includes(job.name))
      return { items: asked.map(({ job }) => ({ job: job.name, attempts: job.retry.attempts })) }
    },
  }),
]

/** Names in the store that begin with the typed text. */
async function namesFor(store: Store, { names, typed }: Completion): Promise<readonly string[]> {
  const all = await allNames(store, names, typed)
  return [...new Set(all)].filter((name) => name.startsWith(typed)).slice(0, mostNames)
}

async function allNames(store: Store, names: Completion['names'], typed: string): Promise<readonly string[]> {
  switch (names) {
    case 'job':
      return (await store.jobs()).map(({ job }) => job.name)
    case 'trigger': {
      const search = typed === '' ? undefined : typed
      const found = await store.triggersPage({ order: 'name', limit: 4 * mostNames, search })
      return found.map(({ trigger }) => trigger.name)
    }
    case 'queue':
      return (await store.queues()).map(({ name }) => name)
    case 'worker':
      return (await store.workers()).map(({ id }) => id)
    case 'error':
      return (await store.runs({ state: 'failed', limit: failedForCodes })).flatMap(
        ({ error }) => error?.code ?? [],
      )
    case 'partition':
    case undefined:
      return []
  }
}

/** A value for a filter, in quotes if necessary. */
function quoted(value: string): string {
  return /[\s,"\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value
}
