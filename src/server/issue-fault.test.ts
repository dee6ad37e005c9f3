import { expect, it } from 'vitest'
import { z } from 'zod'
import { readAs } from './read-request.js'

const shape = z.strictObject({
  job: z.string().min(2).max(4).optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
  ids: z.array(z.string()).max(1).optional(),
  verb: z.enum(['on', 'off']).optional(),
  reason: z.string(),
  dryRun: z.boolean().optional(),
})

it.each([
  [{}, 'body/reason: it is missing (allowed: a text)'],
  [{ reason: 1 }, 'body/reason: it is not a text'],
  [{ reason: '', job: 'a' }, 'body/job: it has fewer than 2 characters'],
  [{ reason: '', job: 'abcde' }, 'body/job: it has more than 4 characters'],
  [{ reason: '', limit: '0' }, 'body/limit: it is less than 1'],
  [{ reason: '', limit: '501' }, 'body/limit: it is more than 500'],
  [{ reason: '', limit: 'abc' }, 'body/limit: it is not a number'],
  [{ reason: '', limit: '1.5' }, 'body/limit: it is not a whole number'],
  [{ reason: '', ids: ['a', 'b'] }, 'body/ids: it has more than 1 entries'],
  [{ reason: '', dryRun: 'yes' }, 'body/dryRun: it is not true or false'],
  [{ reason: '', verb: 'of' }, 'body/verb: it is not one of the values (allowed: on, off)'],
  [
    { reason: '', reson: '' },
    'body: "reson" is not known (did you mean reason?) (allowed: job, limit, ids, verb, reason, dryRun)',
  ],
])('a request with %j gets: %s', (value, text) => {
  expect(() => readAs(shape, value, 'body')).toThrow(`the request is not valid: ${text}`)
})
