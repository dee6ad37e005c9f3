import type { RunId } from '../../kernel/identity/identity.js'
import type { Run } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { RunConditions } from '../../store/run-conditions.js'
import type { RunFilter } from '../../store/run-filter.js'
import { Refusal } from '../../server/problem.js'
import { givenConditions } from '../../wire/run-query/fields.js'
import { readConditions } from '../../wire/run-query/given.js'
import { pendingView, runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'
import { whyAllPending } from '../runs/waiting.js'

/** The query of a list of runs; its other fields are conditions. */
export interface RunsQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly q?: string | undefined
  readonly zone: string
}

/** Totals are counted up to this number; a page shows whether there are more. */
export const mostCounted = 1000

/** How many runs a page searches if no index fits its filter; then it may be short, and the next one continues. */
const look = 100_000

/** One page of runs, the newest due instant first. */
export async function runsPage(app: App, query: RunsQuery) {
  const { limit, after, before } = query
  const store = await app.store()
  const conditions = { ...conditionsOf(app, query), look }
  const { items, next, previous } =
    before === undefined
      ? await pageAfter(store, { ...conditions, limit, before: after })
      : await pageBefore(store, { ...conditions, limit, newerThan: before })
  const { count, isCapped } = await store.countRuns(conditions, mostCounted)
  return { items: items.map(runView), next, previous, total: { count, capped: isCapped } }
}

/** A page and the cursors of its neighbours. */
interface Page {
  readonly items: readonly Run[]
  readonly next: RunId | undefined
  readonly previous: RunId | undefined
}

/** The runs after a cursor: one more than requested shows whether there is another page. */
async function pageAfter(store: Store, filter: RunFilter): Promise<Page> {
  const { limit, before: cursor } = filter
  const { runs, lookedTo } = await store.runsPage({ ...filter, limit: limit + 1 })
  const items = runs.slice(0, limit)
  const next = runs.length > limit ? items.at(-1)?.id : lookedTo
  return { items, next, previous: cursor === undefined ? undefined : (items[0]?.id ?? cursor) }
}

/** The runs before a cursor. */
async function pageBefore(store: Store, filter: RunFilter): Promise<Page> {
  const { limit, newerThan: cursor } = filter
  const { runs, lookedTo } = await store.runsPage({ ...filter, limit: limit + 1 })
  const items = runs.slice(-limit)
  const previous = runs.length > limit ? items[0]?.id : lookedTo
  return { items, next: items.at(-1)?.id ?? cursor, previous }
}

/** The conditions of a query; refuses it with every fault and its place. */
export function conditionsOf(app: App, query: { q?: string | undefined; zone: string }): RunConditions {
  const { q, zone } = query
  const text = q === undefined ? undefined : { text: q, place: 'query/q' }
  const given = givenConditions({ ...query })
  const { conditions, faults } = readConditions(given, text, { zone, now: app.now() })
  if (faults.length === 0) return conditions
  const [first] = faults
  const message = `the request is not valid: ${first?.path} ${first?.message}`
  throw new Refusal('REQUEST_INVALID', message, { faults })
}

/** Pending runs that should have started, with what each of them waits for. */
export async function lateRuns(app: App, { limit, byMs }: { readonly limit: number; readonly byMs: number }) {
  const [store, now] = [await app.store(), app.now()]
  const found = await store.late({ now, byMs, limit: limit + 1 })
  const runs = found.slice(0, limit)
  const pending = await whyAllPending(store, { runs, now })
  return {
    items: runs.map((run) => ({ run: runView(run), pending: (pending.get(run.id) ?? []).map(pendingView) })),
    more: found.length > limit,
  }
}
