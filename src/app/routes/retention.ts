/** The route that returns how long the store keeps its data. */
import { z } from 'zod'
import { auditKept, daysKeptMs, requestsKeptMs } from '../../engine/upkeep/kept.js'
import { sessionMs } from '../../server/access/sessions.js'
import { route, type Route } from '../../wire/route.js'
import type { App } from '../rota.js'

const kept = z
  .strictObject({
    what: z.enum(['runs', 'audit', 'rollups', 'coverage', 'requests', 'sessions']),
    job: z.string().nullable().meta({ description: 'The job that has its own retention.' }),
    state: z.string().nullable().meta({ description: 'How its runs ended.' }),
    keptMs: z.number().int(),
    most: z.number().int().nullable().meta({ description: 'At most this many, however new they are.' }),
    about: z.string(),
  })
  .meta({ id: 'Kept' })

/** Creates the route; `retentionMs` is that of the serving process. */
export function retentionRoute(retentionMs: () => number): Route<App> {
  return route({
    method: 'GET',
    path: '/retention',
    needsApp: true,
    role: 'read',
    group: 'Explain',
    summary: 'Returns how long the store keeps its data.',
    about:
      'This process keeps runs for its `retention`; a process on the same store with a shorter one removes them earlier. A run stays at least until its hour is counted for the roll-ups.',
    answer: z.strictObject({ items: z.array(kept) }),
    example: {},
    handle: async ({ app }) => ({
      items: [
        { what: 'runs', keptMs: retentionMs(), about: 'final runs with their attempts and logs' },
        ...(await ofJobs(app, retentionMs())),
        { what: 'audit', keptMs: auditKept.ms, most: auditKept.most, about: 'who changed what' },
        { what: 'rollups', keptMs: daysKeptMs, about: 'how runs ended, by hour and job' },
        { what: 'coverage', keptMs: daysKeptMs, about: 'dispositions of due instants, by day' },
        { what: 'requests', keptMs: requestsKeptMs, about: 'answers to repeated Idempotency-Keys' },
        { what: 'sessions', keptMs: sessionMs, about: 'who is signed in with a browser' },
      ].map(({ most, job, state, ...one }: KeptItem) => ({ ...one, job, state, most })),
    }),
  })
}

interface KeptItem {
  readonly what: string
  readonly keptMs: number
  readonly about: string
  readonly most?: number | undefined
  readonly job?: string | undefined
  readonly state?: string | undefined
}

/** The retention of jobs that have their own, by final state. */
async function ofJobs(app: App, retentionMs: number): Promise<readonly KeptItem[]> {
  return (await app.jobs.list()).flatMap(({ job: { name, retention = {} } }) =>
    Object.entries(retention).map(([state, { ageMs = retentionMs, count }]) => ({
      what: 'runs',
      job: name,
      state,
      keptMs: ageMs,
      most: count,
      about: `${state} runs of ${name}`,
    })),
  )
}
