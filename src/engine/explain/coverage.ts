import type { Instant } from '../../time/instant.js'
import { tzdataVersion } from '../../time/zone.js'
import { chainCoverageOf } from './chain-coverage.js'
import type { Coverage } from '../../kernel/ledger/coverage.js'
import type { LedgerReason, RecordedRange } from '../../kernel/ledger/ledger.js'
import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'

const examples = 20
const page = 10_000

/** After this many instants the event loop gets control. */
const instantsPerCycle = 2000

/** Compares the computed due instants with the ledger: after `since`, up to `until` or the trigger's cursor. */
export async function coverageOf(
  store: Store,
  trigger: StoredTrigger,
  {
    kinds,
    since,
    until = Infinity,
  }: {
    readonly kinds: TriggerKinds
    readonly since?: Instant | undefined
    readonly until?: Instant | undefined
  },
): Promise<Coverage> {
  const name = trigger.trigger.name
  const isChain = (version: TriggerVersion): boolean => kindOf(kinds, version.trigger).isChain === true
  const all = (await store.versions(name)).filter((version) => version.trigger.enabled)
  const versions = all.filter((version) => !isChain(version))
  if (versions.length === 0 && all.length > 0) return await chainCoverageOf(store, trigger, since)
  const fromAt = Math.max(since ?? 0, versions[0]?.validFrom ?? trigger.cursorAt)
  const untilAt = Math.min(trigger.cursorAt, until)
  const ranges = await store.ledger({ trigger: name, fromAt, untilAt })
  const tally = new Tally(ranges, all.filter(isChain))
  const recorded = instantsOfRuns(store, { trigger: name, fromAt, untilAt })
  let run = await recorded.next()
  let seen = 0
  for (const at of dueInstants(versions, { kinds, fromAt, untilAt })) {
    if (++seen % instantsPerCycle === 0) await new Promise((resolve) => setImmediate(resolve))
    while (run.done !== true && run.value < at) {
      tally.unexpected(run.value)
      run = await recorded.next()
    }
    const hasRun = run.done !== true && run.value === at
    tally.due(at, hasRun)
    if (hasRun) run = await recorded.next()
  }
  for (; run.done !== true; run = await recorded.next()) tally.unexpected(run.value)
  const otherZoneRules = versions.some(
    ({ tzdata, trigger: one }) =>
      tzdata !== tzdataVersion() && kindOf(kinds, one).dependsOnZoneRules?.(one) === true,
  )
  return { trigger: name, fromAt, untilAt, ...tally.result(), otherZoneRules }
}

/** The due instants of all versions in `(fromAt, untilAt]`, oldest first. */
function* dueInstants(
  versions: readonly TriggerVersion[],
  window: { kinds: TriggerKinds; fromAt: Instant; untilAt: Instant },
): Generator<Instant> {
  for (const version of versions) {
    const schedule = kindOf(window.kinds, version.trigger).instants(version.trigger)
    if (schedule === undefined) continue
    const until = Math.min(window.untilAt, version.validUntil ?? Infinity)
    let at = schedule.next(Math.max(version.validFrom, window.fromAt))
    while (at !== undefined && at <= until) {
      yield at
      at = schedule.next(at)
    }
  }
}

async function* instantsOfRuns(
  store: Store,
  window: { trigger: string; fromAt: Instant; untilAt: Instant },
): AsyncGenerator<Instant> {
  let { fromAt } = { fromAt: window.fromAt + 1 }
  for (;;) {
    const runs = await store.runInstants({ ...window, fromAt, limit: page })
    for (const run of runs) yield run.dueAt
    if (runs.length < page) return
    fromAt = (runs.at(-1)?.dueAt ?? fromAt) + 1
  }
}

/** Counts the dispositions of instants, which come in order. */
class Tally {
  readonly #ranges: readonly RecordedRange[]
  readonly #chains: readonly TriggerVersion[]
  #nextRange = 0
  #open: RecordedRange[] = []
  /** When the next range begins, and when the first of the open ones ends. */
  #opensAt: Instant
  #closesAt: Instant = Infinity
  #due = 0
  #run = 0
  readonly #explained: Partial<Record<LedgerReason, number>> = {}
  readonly #unexplained: Instant[] = []
  #unexplainedCount = 0
  readonly #unexpected: Instant[] = []
  #unexpectedCount = 0

  /** In `chains` the due instants cannot be computed; they follow from the runs themselves. */
  constructor(ranges: readonly RecordedRange[], chains: readonly TriggerVersion[]) {
    this.#chains = chains
    this.#ranges = ranges.toSorted((a, b) => a.firstAt - b.firstAt)
    this.#opensAt = this.#ranges[0]?.firstAt ?? Infinity
  }

  due(at: Instant, hasRun: boolean): void {
    this.#due += 1
    if (hasRun) {
      this.#run += 1
      return
    }
    const range = this.#rangeAt(at)
    if (range !== undefined) {
      this.#explained[range.reason] = (this.#explained[range.reason] ?? 0) + 1
      return
    }
    this.#unexplainedCount += 1
    if (this.#unexplained.length < examples) this.#unexplained.push(at)
  }

  unexpected(at: Instant): void {
    const isOf = ({ validFrom, validUntil }: TriggerVersion): boolean =>
      validFrom < at && at <= (validUntil ?? Infinity)
    if (this.#chains.some(isOf)) return
    this.#unexpectedCount += 1
    if (this.#unexpected.length < examples) this.#unexpected.push(at)
  }

  result() {
    return {
      due: this.#due,
      run: this.#run,
      explained: this.#explained,
      unexplained: this.#unexplained,
      unexplainedCount: this.#unexplainedCount,
      unexpected: this.#unexpected,
      unexpectedCount: this.#unexpectedCount,
    }
  }

  /** The range that contains an instant; ranges are opened and closed as the instants advance. */
  #rangeAt(at: Instant): RecordedRange | undefined {
    if (at > this.#closesAt || at >= this.#opensAt) this.#moveTo(at)
    return this.#open[0]
  }

  #moveTo(at: Instant): void {
    while (this.#opensAt <= at) {
      this.#open.push(this.#ranges[this.#nextRange++] as RecordedRange)
      this.#opensAt = this.#ranges[this.#nextRange]?.firstAt ?? Infinity
    }
    this.#open = this.#open.filter((range) => range.lastAt >= at)
    this.#closesAt = Math.min(Infinity, ...this.#open.map((range) => range.lastAt))
  }
}
