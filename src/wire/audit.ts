/** Entries of the audit, as requests and answers show them. */
import { z } from 'zod'
import { instant, instantInput, json, paging } from './fields.js'

/** One change. */
export const auditEntry = z
  .strictObject({
    seq: z.number().int(),
    id: z.string(),
    at: instant,
    actor: z.string(),
    via: z.enum(['cli', 'api', 'code', 'sync', 'rule']),
    action: z.string(),
    target: z.string(),
    reason: z.string().nullable(),
    before: json,
    after: json,
  })
  .meta({ id: 'AuditEntry' })

/** Which entries are listed. */
export const auditQuery = z.strictObject({
  ...paging,
  actor: z.string().max(256).optional(),
  action: z.string().max(64).optional().meta({ description: 'Such as `run.retry`.' }),
  since: instantInput.optional(),
})

/** One page of entries, newest first. */
export const auditAnswer = z.strictObject({ items: z.array(auditEntry), next: z.string().nullable() })
