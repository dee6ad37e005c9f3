import type { RunState } from '../../kernel/run/run.js'
import { pendingView, runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'
import { whyAllPending } from '../runs/waiting.js'

/** What a list of runs is asked for. */
export interface RunsQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly state?: RunState | undefined
  readonly job?: string | undefined
  readonly trigger?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/** Totals are counted up to here; a page says when there are more. */
export const mostCounted = 1000

/** One page of runs, the newest due instant first. */
export async function runsPage(app: App, { limit, after, since, until, ...query }: RunsQuery) {
  const store = await app.store()
  const filter = { ...query, sinceAt: since?.getTime(), untilAt: until?.getTime() }
  const found = await store.runs({ ...filter, before: after, limit: limit + 1 })
  const items = found.slice(0, limit)
  const { count, isCapped } = await store.countRuns(filter, mostCounted)
  return {
    items: items.map(runView),
    next: found.length > limit ? items.at(-1)?.id : undefined,
    total: { count, capped: isCapped },
  }
}

/** Pending runs that should have started, with what keeps each of them. */
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
