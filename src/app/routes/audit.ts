/** The routes of the audit. */
import { z } from 'zod'
import { Refusal } from '../../server/problem.js'
import { auditAnswer, auditQuery } from '../../wire/audit.js'
import { name } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { auditView } from '../../wire/views/audit.js'
import type { App } from '../rota.js'

const group = 'Audit'

/** Says who changed what. */
export const auditRoutes: readonly Route<App>[] = [
  route({
    method: 'GET',
    path: '/audit',
    role: 'admin',
    group,
    summary: 'Lists changes, newest first: who, through what, what, why, before and after.',
    query: auditQuery.extend({
      target: z.string().max(512).optional().meta({ description: 'Such as `trigger:nightly`.' }),
    }),
    answer: auditAnswer,
    example: { query: { action: 'run.retry', limit: '2' } },
    handle: async ({ app, query: { target, ...query } }) =>
      await auditPage(app, query, target === undefined ? undefined : [target]),
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}/history',
    role: 'read',
    group: 'Triggers',
    summary: 'Lists the changes of a trigger, newest first.',
    parts: z.strictObject({ name }),
    query: auditQuery,
    answer: auditAnswer,
    example: { parts: { name: 'nightly' }, query: { limit: '2' } },
    handle: async ({ app, parts, query }) => {
      const { trigger } = await app.triggers.get(parts.name)
      return await auditPage(app, query, [`trigger:${trigger.name}`])
    },
  }),
]

async function auditPage(
  app: App,
  query: z.output<typeof auditQuery>,
  targets: readonly string[] | undefined,
) {
  const { limit, after, since, ...filter } = query
  const before = after === undefined ? undefined : numberOf(after)
  const store = await app.store()
  const sinceAt = since?.getTime()
  const found = await store.auditPage({ ...filter, targets, sinceAt, before, limit: limit + 1 })
  const items = found.slice(0, limit)
  return {
    items: items.map(auditView),
    next: found.length > limit ? String(items.at(-1)?.seq) : undefined,
  }
}

function numberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const faults = [{ path: 'query/after', message: 'it is not the `next` of a page' }]
  throw new Refusal('REQUEST_INVALID', 'the request is not valid: query/after is not the `next` of a page', {
    faults,
  })
}
