/** The route of the newest runs of triggers: small charts next to their names, and usual durations. */
import { z } from 'zod'
import { Refusal } from '../../../server/problem.js'
import { name } from '../../../wire/fields.js'
import { route, type Route } from '../../../wire/route.js'
import { recentRuns } from '../../../wire/ui.js'
import type { App } from '../../rota.js'
import { listOf } from './query.js'

const mostTriggers = 100
/** A list shows 20 of each of 100 triggers; one trigger shows 200. */
const mostRuns = 2000

/** Reads the newest runs of triggers. */
export const recentRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/ui/recent',
    role: 'read',
    group: 'Dashboard',
    isPrivate: true,
    summary: 'Reads the newest runs of triggers, newest first.',
    query: z.strictObject({
      triggers: listOf(name, mostTriggers),
      each: z.coerce.number().int().min(1).max(200).default(20),
    }),
    answer: recentRuns,
    example: { query: { triggers: 'nightly' } },
    handle: async ({ app, query: { triggers, each } }) => {
      const names = [...new Set(triggers)]
      if (names.length * each > mostRuns) {
        const message = `${names.length} triggers with ${each} runs each are more than ${mostRuns} runs`
        throw new Refusal('REQUEST_INVALID', `the request is not valid: query/each: ${message}`, {
          faults: [{ path: 'query/each', message }],
        })
      }
      const runs = await (await app.store()).recentRuns({ triggers: names, each })
      return {
        items: names.map((trigger) => ({
          trigger,
          runs: runs.filter((run) => run.trigger === trigger).map(({ trigger: _name, ...mark }) => mark),
        })),
      }
    },
  }),
]
