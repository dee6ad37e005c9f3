import { groupErrors } from '../../kernel/run/error-shape.js'
import type { Run } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { RunConditions } from '../../store/run-conditions.js'
import { runView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'
import { conditionsOf } from './runs-page.js'

/** How many failed runs are grouped. */
const mostGrouped = 1000

/** Groups the errors of the newest failed runs, the largest group first. */
export async function errorGroups(app: App, query: { q?: string | undefined; zone: string }) {
  const { runs, isCapped } = await newestFailed(await app.store(), conditionsOf(app, query))
  return {
    items: groupErrors(runs).map((group) => ({ ...group, example: runView(group.example) })),
    runs: { count: runs.length, capped: isCapped },
  }
}

/** The newest failed runs to group, and whether there may be more. */
export async function newestFailed(
  store: Store,
  conditions: RunConditions,
): Promise<{ readonly runs: readonly Run[]; readonly isCapped: boolean }> {
  const filter = { ...conditions, state: 'failed', limit: mostGrouped, look: 100_000 } as const
  const { runs, lookedTo } = await store.runsPage(filter)
  return { runs, isCapped: runs.length === mostGrouped || lookedTo !== undefined }
}
