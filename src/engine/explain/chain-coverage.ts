import type { Coverage } from '../../kernel/ledger/coverage.js'
import type { RecordedRange } from '../../kernel/ledger/ledger.js'
import { sumOfCounts } from '../../kernel/ledger/pruned-counts.js'
import { isFinal } from '../../kernel/run/run.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

const page = 10_000

/**
 * The coverage of an after-finish trigger. Its due instants cannot be computed again, so the only check is that the
 * chain continues. Of pruned runs only the number is known, so counting begins with the first pruned range.
 */
export async function chainCoverageOf(
  store: Store,
  trigger: StoredTrigger,
  since: Instant | undefined,
): Promise<Coverage> {
  const { name } = trigger.trigger
  const asked = { trigger: name, fromAt: since ?? trigger.definedAt, untilAt: trigger.cursorAt }
  const fromAt = Math.min(asked.fromAt, ...(await store.ledger(asked)).filter(isPruned).map(firstAtOf))
  const window = { ...asked, fromAt }
  const run = await countRuns(store, window)
  const explained = countReasons(await store.ledger(window))
  const unexplained = (await isChainBroken(store, trigger)) ? [trigger.cursorAt] : []
  return {
    ...window,
    due: run + sumOf(explained) + unexplained.length,
    run,
    explained,
    unexplained,
    unexplainedCount: unexplained.length,
    unexpected: [],
    unexpectedCount: 0,
    otherZoneRules: false,
  }
}

/** The same for one day; a pruned range counts on the day on which it begins. */
export async function chainCoverageOfDay(
  store: Store,
  day: { readonly trigger: string; readonly fromAt: Instant; readonly untilAt: Instant },
): Promise<Pick<Coverage, 'due' | 'run' | 'explained'>> {
  const run = await countRuns(store, day)
  const ranges = await store.ledger(day)
  const explained = countReasons(ranges.filter(({ firstAt }) => firstAt >= day.fromAt))
  return { due: run + sumOf(explained), run, explained }
}

function sumOf(explained: Coverage['explained']): number {
  return Object.values(explained).reduce((sum, count) => sum + count, 0)
}

/** Whether a chain that should continue has neither a next due instant nor a run whose end will set it. */
async function isChainBroken(store: Store, stored: StoredTrigger): Promise<boolean> {
  const { trigger, active, nextAt, chainRun } = stored
  const { schedule } = trigger
  if (!active || !trigger.enabled || nextAt !== undefined) return false
  // A chain with an end stops there, and a pause removes the due instant for its time.
  if (schedule.endAt !== undefined || (await isPaused(store, trigger.name))) return false
  const run = chainRun === undefined ? undefined : await store.run(chainRun)
  return run === undefined || isFinal(run.state)
}

async function isPaused(store: Store, name: string): Promise<boolean> {
  const holds = await store.holds({ target: `trigger:${name}` })
  return holds.some((hold) => hold.untilAt === undefined)
}

async function countRuns(
  store: Store,
  window: { trigger: string; fromAt: Instant; untilAt: Instant },
): Promise<number> {
  let count = 0
  let { fromAt } = window
  for (;;) {
    const runs = await store.runInstants({ ...window, fromAt, limit: page })
    count += runs.length
    if (runs.length < page) return count
    fromAt = (runs.at(-1)?.dueAt ?? fromAt) + 1
  }
}

function isPruned({ reason }: RecordedRange): boolean {
  return reason === 'pruned'
}

function firstAtOf({ firstAt }: RecordedRange): Instant {
  return firstAt
}

/** Each range is one instant, except a pruned one, which contains a number. */
function countReasons(ranges: readonly RecordedRange[]): Coverage['explained'] {
  const counts: Record<string, number> = {}
  for (const range of ranges) {
    const instants = isPruned(range) ? sumOfCounts(range.detail) : 1
    counts[range.reason] = (counts[range.reason] ?? 0) + instants
  }
  return counts
}
