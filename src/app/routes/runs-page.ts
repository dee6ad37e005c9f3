import type { RunState } from '../../kernel/run/run.js'
import { runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'

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
