import { coverageOf } from '../engine/explain/coverage.js'
import { isComplete } from '../kernel/ledger/coverage.js'
import type { RunContext } from '../engine/worker/perform.js'
import { isAddition } from '../kernel/ledger/ledger.js'
import type { StoredTrigger, Trigger } from '../kernel/trigger/trigger.js'
import type { Store } from '../store/port.js'
import { isFinal, type Run } from '../kernel/run/run.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { kindOf, type TriggerKinds } from '../engine/trigger-kind.js'

/** Watches runs that begin in a simulated world, and returns the violated guarantees at the end. */
export interface WorldObserver {
  began(run: RunContext): void
  verdict(store: Store, runs: readonly Run[], endAt: Instant): Promise<readonly string[]>
}

/** One attempt that the observer has seen. */
interface Seen {
  readonly process: object
  readonly run: string
  readonly trigger: string
  readonly attempt: number
}

/** Runs that became due within this time before the end may still be unfinished. */
const unfinishedMs = 6 * 3_600_000

/** Records what the handlers of a simulated world really did, and compares it with the store. */
export class Observer {
  readonly #exclusive: ReadonlySet<string>
  readonly #active = new Map<string, Set<Seen>>()
  readonly #attempts = new Map<string, number[]>()
  /** The attempts whose handler completed. */
  readonly #done = new Set<string>()
  readonly #broken: string[] = []
  readonly #kinds: TriggerKinds
  readonly #others: readonly WorldObserver[]
  #workers = 0
  #count = 0

  constructor(options: {
    readonly triggers: readonly Trigger[]
    readonly kinds: TriggerKinds
    readonly others: readonly WorldObserver[]
  }) {
    this.#kinds = options.kinds
    this.#others = options.others
    const isExclusive = (trigger: Trigger): boolean =>
      !['allow', 'terminate-running'].includes(trigger.overlap)
    this.#exclusive = new Set(options.triggers.filter(isExclusive).map((trigger) => trigger.name))
  }

  get attempts(): number {
    return this.#count
  }

  /** The number of runs with more than one attempt. */
  get repeated(): number {
    let repeated = 0
    for (const attempts of this.#attempts.values()) if (attempts.length > 1) repeated += 1
    return repeated
  }

  nextWorker(): number {
    return ++this.#workers
  }

  began(process: object, run: RunContext): Seen {
    const seen = { process, run: run.id, trigger: run.trigger ?? '', attempt: run.attempt }
    this.#count += 1
    for (const other of this.#others) other.began(run)
    const attempts = this.#attempts.get(run.id) ?? []
    if (attempts.includes(run.attempt))
      this.#broken.push(`G5: attempt ${run.attempt} of ${run.id} began twice`)
    attempts.push(run.attempt)
    this.#attempts.set(run.id, attempts)
    const active = this.#active.get(seen.trigger) ?? new Set()
    if (active.size > 0 && this.#exclusive.has(seen.trigger)) {
      this.#broken.push(`G6: ${run.id} of ${seen.trigger} began while another attempt was running`)
    }
    active.add(seen)
    this.#active.set(seen.trigger, active)
    return seen
  }

  ended(seen: Seen, isDone: boolean): void {
    this.#active.get(seen.trigger)?.delete(seen)
    if (isDone) this.#done.add(`${seen.run} ${seen.attempt}`)
  }

  died(process: object): void {
    for (const active of this.#active.values()) {
      for (const seen of active) if (seen.process === process) active.delete(seen)
    }
  }

  /** All leases have expired: every attempt that is still running is a zombie. */
  leasesEnded(): void {
    this.#active.clear()
  }

  /** All violated guarantees. */
  async verdict(store: Store, endAt: Instant): Promise<readonly string[]> {
    const broken = [...this.#broken]
    for (const trigger of await store.triggers()) {
      const name = trigger.trigger.name
      for (const at of await recordedTwice(store, trigger, this.#kinds)) {
        broken.push(`G2: ${name} at ${formatInstant(at)} was recorded twice`)
      }
      const coverage = await coverageOf(store, trigger, { kinds: this.#kinds })
      if (isComplete(coverage)) continue
      const { unexplained, unexpected } = coverage
      for (const at of unexplained)
        broken.push(`G2: ${name} at ${formatInstant(at)} has neither a run nor a reason`)
      for (const at of unexpected)
        broken.push(`G1: ${name} has a run at ${formatInstant(at)}, which is not due`)
    }
    const runs = await this.#allRuns(store)
    broken.push(...(await standInsMissing(store, runs)))
    for (const run of runs) broken.push(...(await this.#judge(store, run, endAt)))
    for (const other of this.#others) broken.push(...(await other.verdict(store, runs, endAt)))
    return broken
  }

  async #judge(store: Store, run: Run, endAt: Instant): Promise<string[]> {
    const broken: string[] = []
    const begun = this.#attempts.get(run.id) ?? []
    if (run.state === 'done' && begun.length === 0) broken.push(`G4: ${run.id} is done but was never begun`)
    if (!isFinal(run.state) && run.runAt < endAt - unfinishedMs) {
      broken.push(`G4: ${run.id} of ${run.trigger} is still ${run.state} at the end`)
    }
    if (run.state === 'done' && begun.length > 0 && !this.#done.has(`${run.id} ${run.attempt}`)) {
      broken.push(`G5: ${run.id} is done by attempt ${run.attempt}, which never existed`)
    }
    if (run.attempt === 1) return broken
    const attempts = await store.attempts(run.id)
    if (attempts.some((attempt, index) => attempt.attempt !== index + 1) || attempts.length !== run.attempt) {
      broken.push(`G5: the attempts of ${run.id} have a gap`)
    }
    const unexplained = attempts
      .slice(0, -1)
      .filter((attempt) => attempt.end === 'done' || attempt.end === undefined)
    if (unexplained.length > 0) broken.push(`G5: ${run.id} was repeated although an attempt was done`)
    return broken
  }

  async #allRuns(store: Store) {
    const all = []
    let before: string | undefined
    for (;;) {
      const runs = await store.runs({ limit: 1000, before })
      all.push(...runs)
      before = runs.at(-1)?.id
      if (runs.length < 1000) return all
    }
  }
}

/** G3: a run that others were collapsed into or cancelled for exists. */
async function standInsMissing(store: Store, runs: readonly Run[]): Promise<readonly string[]> {
  const ids = new Set<string>(runs.map(({ id }) => id))
  const missing: string[] = []
  for (const { trigger } of await store.triggers()) {
    const ranges = await store.ledger({ trigger: trigger.name, fromAt: 0, untilAt: Number.MAX_SAFE_INTEGER })
    for (const { reason, blocker, firstAt } of ranges) {
      if (reason !== 'collapsed' || blocker === undefined || ids.has(blocker)) continue
      missing.push(
        `G3: ${trigger.name} at ${formatInstant(firstAt)} was collapsed into ${blocker}, which is not a run`,
      )
    }
  }
  for (const { id, reason } of runs) {
    const by = reason?.startsWith(supersededBy) ? reason.slice(supersededBy.length) : undefined
    if (by !== undefined && !ids.has(by))
      missing.push(`G3: ${id} was cancelled for ${by}, which is not a run`)
  }
  return missing
}

const supersededBy = 'superseded by '

/** The first instants without a run that are in two ranges. */
async function recordedTwice(
  store: Store,
  { trigger }: StoredTrigger,
  kinds: TriggerKinds,
): Promise<readonly Instant[]> {
  const everything = { trigger: trigger.name, fromAt: 0, untilAt: Number.MAX_SAFE_INTEGER }
  const ranges = (await store.ledger(everything)).filter(
    (range) => range.reason !== 'pruned' && !isAddition(range),
  )
  const runs = new Set((await store.runInstants({ ...everything, limit: 1_000_000 })).map((run) => run.dueAt))
  const versions = new Map((await store.versions(trigger.name)).map((one) => [one.version, one.trigger]))
  const found: Instant[] = []
  let reachedAt = -Infinity
  for (const { firstAt, lastAt, version } of ranges) {
    const definition = versions.get(version) ?? trigger
    const instants = kindOf(kinds, definition).instants(definition)
    const first = instants === undefined ? firstAt : instants.next(firstAt - 1)
    if (first !== undefined && first <= Math.min(lastAt, reachedAt) && !runs.has(first)) found.push(first)
    reachedAt = Math.max(reachedAt, lastAt)
  }
  return found.slice(0, 10)
}
