import type { RunId } from '../../kernel/identity/identity.js'
import type { Run, RunState } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { RunConditions } from '../../store/run-conditions.js'
import type { Instant } from '../../time/instant.js'
import { skipReasonOf, type BulkAction, type SkipReason } from './bulk.js'

/** Which runs are selected: those of a filter, or the given ones. */
export type Selection = { readonly conditions: RunConditions } | { readonly ids: readonly RunId[] }

/** The selected runs, and what an action would do with them. */
export interface Selected {
  readonly ids: readonly RunId[]
  /** Whether there may be more than the limit. */
  readonly isCapped: boolean
  /** How many the action would change. */
  readonly count: number
  readonly skipped: Readonly<Record<string, number>>
  readonly examples: readonly Run[]
}

/** How many runs are shown of a dry run. */
const mostExamples = 20

/** Runs can be large, so few are read at once. */
const runsPerPage = 100

/** How many runs one query reads if no index fits the filter, so that other work can happen in between. */
const look = 10_000

/** The states that an action selects if the filter names none. */
const usualStates: Readonly<Record<BulkAction, readonly RunState[]>> = {
  retry: ['failed'],
  cancel: ['pending', 'running'],
  run: ['done', 'failed', 'cancelled'],
  advance: ['pending'],
}

/** Selects the runs of a bulk, the newest first. Runs that are recorded later are not included. */
export async function selectRuns(
  store: Store,
  request: { action: BulkAction; selection: Selection; limit: number; now: Instant },
): Promise<Selected> {
  const { action, selection, limit, now } = request
  const seen = new Seen(action, now)
  if ('ids' in selection) {
    const ids = [...new Set(selection.ids)]
    for (const id of ids.slice(0, limit)) seen.add(id, await store.run(id))
    return seen.result(ids.length > limit)
  }
  const conditions = { state: usualStates[action], ...selection.conditions }
  const state =
    Array.isArray(conditions.state) && conditions.state.length === 1 ? conditions.state[0] : conditions.state
  let before: RunId | undefined
  do {
    // One more than the limit shows whether there are more.
    const page = Math.min(runsPerPage, limit + 1 - seen.size)
    const { runs, lookedTo } = await store.runsPage({ ...conditions, state, limit: page, before, look })
    for (const run of runs) {
      if (seen.size === limit) return seen.result(true)
      seen.add(run.id, run)
    }
    before = runs.length < page ? lookedTo : runs.at(-1)?.id
  } while (before !== undefined)
  return seen.result(false)
}

class Seen {
  readonly #action: BulkAction
  readonly #now: Instant
  readonly #ids: RunId[] = []
  readonly #skipped: Record<string, number> = {}
  readonly #examples: Run[] = []
  #count = 0

  constructor(action: BulkAction, now: Instant) {
    this.#action = action
    this.#now = now
  }

  get size(): number {
    return this.#ids.length
  }

  add(id: RunId, run: Run | undefined): void {
    const reason: SkipReason | undefined =
      run === undefined ? 'absent' : skipReasonOf(this.#action, run, this.#now)
    this.#ids.push(id)
    if (reason !== undefined) {
      this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1
      return
    }
    this.#count += 1
    if (run !== undefined && this.#examples.length < mostExamples) this.#examples.push(run)
  }

  result(isCapped: boolean): Selected {
    return {
      ids: this.#ids,
      isCapped,
      count: this.#count,
      skipped: this.#skipped,
      examples: this.#examples,
    }
  }
}
