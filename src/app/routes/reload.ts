/** The route that makes processes read their configs again. */
import { z } from 'zod'
import { changeBody } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { ReloadedProcess } from '../reload/ask-to-reload.js'
import type { App } from '../rota.js'

const names = z.strictObject({
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
})

const reloaded = z
  .strictObject({
    host: z.string(),
    pid: z.number().int(),
    app: z.string(),
    outcome: z
      .enum(['reloaded', 'planned', 'refused', 'silent'])
      .meta({ description: '`planned`: a dry run. `silent`: no answer in time.' }),
    jobs: names.nullable(),
    triggers: names.nullable(),
    unchanged: z.number().int().nullable(),
    needsRestart: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Changed keys of the config that take effect only after a restart.' }),
    code: z.string().nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'ReloadedProcess' })

/** The same as `rota reload`. */
export const reloadRoutes: readonly Route<App>[] = [
  route({
    method: 'POST',
    path: '/reload',
    role: 'admin',
    group: 'Workers',
    summary: 'Makes every `rota up` read its config again and apply the changes.',
    about:
      'Runs are not interrupted. A process refuses a config with a fault as a whole, and continues as before. The answer is sent when all processes have answered, or after `waitMs`; it is empty if no process runs on the store.',
    body: changeBody.extend({
      app: z.string().max(256).optional(),
      target: z.string().max(300).optional().meta({ description: 'A host, or `host:pid`.' }),
      waitMs: z.number().int().min(0).max(60_000).default(30_000),
    }),
    answer: z.strictObject({ items: z.array(reloaded) }),
    example: { body: { dryRun: true } },
    handle: async ({ app, change, body: { app: name, target, waitMs } }) => {
      const processes = await app.workers.reload({ ...change, app: name, target, wait: waitMs })
      return {
        items: processes.map(view),
      }
    },
  }),
]

function view({ answer, ...process }: ReloadedProcess) {
  const changes = answer === undefined || answer.outcome === 'refused' ? undefined : answer
  const refused = answer?.outcome === 'refused' ? answer : undefined
  return {
    ...process,
    outcome: answer?.outcome ?? ('silent' as const),
    jobs: changes?.jobs,
    triggers: changes?.triggers,
    unchanged: changes?.unchanged,
    needsRestart: changes?.needsRestart,
    code: refused?.code,
    message: refused?.message,
  }
}
