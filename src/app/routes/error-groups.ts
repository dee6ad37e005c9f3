import { groupErrors } from '../../kernel/run/error-shape.js'
import { runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'
import { conditionsOf } from './runs-page.js'

/** How many failed runs are put in groups. */
const mostGrouped = 1000

/** The errors of the newest failed runs, in groups, the largest first. */
export async function errorGroups(app: App, query: { q?: string | undefined; zone: string }) {
  const store = await app.store()
  const conditions = { ...conditionsOf(app, query), state: 'failed' } as const
  const { runs, lookedTo } = await store.runsPage({ ...conditions, limit: mostGrouped, look: 100_000 })
  const isCapped = runs.length === mostGrouped || lookedTo !== undefined
  return {
    items: groupErrors(runs).map((group) => ({ ...group, example: runView(group.example) })),
    runs: { count: runs.length, capped: isCapped },
  }
}
