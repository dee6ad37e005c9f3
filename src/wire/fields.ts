/** The fields that requests and answers share. */
import { z } from 'zod'
import { parseInstant } from '../time/instant.js'

/** An instant as ISO text in UTC. */
export const instant = z.iso.datetime().meta({ id: 'Instant', example: '2026-03-29T01:00:00Z' })

/** An instant or null. */
export const maybeInstant = instant.nullable()

/** An instant in a request: ISO text with an offset or a Z. */
export const instantInput = z
  .string()
  .max(64)
  .transform((text, context) => {
    try {
      return new Date(parseInstant(text))
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })
  .meta({ example: '2026-03-29T01:00:00Z' })

/** The name of a job, a trigger, a queue or anything else that has one. */
export const name = z.string().min(1).max(256)

/** Any JSON value. */
export const json = z.unknown()

/** Additional names of a run. */
export const labels = z.record(z.string(), z.string())

/** The fields of every change: the reason, and whether it is a dry run. */
export const change = {
  reason: z.string().max(4096).optional().meta({ description: 'Why; stored in the audit.' }),
  dryRun: z.boolean().optional().meta({ description: 'Returns what would change, and changes nothing.' }),
}

/** The body of a change without other fields. */
export const changeBody = z.strictObject(change)

/** The query of a list: how many, and after which entry. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.string().max(512).optional().meta({ description: '`next` of the previous page.' }),
}

/** The query of a list with pages in both directions. */
export const pagingBothWays = {
  ...paging,
  before: z.string().max(512).optional().meta({ description: '`previous` of the next page.' }),
}

/** One page of a list with pages in both directions. */
export function pageBothWays(item: z.ZodType) {
  return page(item).extend({ previous: z.string().nullable() })
}

/** One page of a list. A total that is capped means "at least". */
export function page(item: z.ZodType) {
  return z.strictObject({
    items: z.array(item),
    next: z.string().nullable(),
    total: z.strictObject({ count: z.number().int(), capped: z.boolean() }),
  })
}

/** A page of a list that is read whole, by keys that are all different: the items after the last one of the page before. */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  keyOf: (item: Item) => string,
) {
  const rest = items
    .filter((item) => after === undefined || keyOf(item) > after)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const shown = rest.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown,
    next: last === undefined || rest.length <= limit ? null : keyOf(last),
    total: { count: items.length, capped: false },
  }
}
