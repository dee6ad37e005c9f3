import { isComplete } from '../../../kernel/ledger/coverage.js'
import type { Cycle, ServiceTiming } from '../round.js'
import { coverageOf } from '../../../engine/explain/coverage.js'
import type { RunContext } from '../../../engine/worker/perform.js'
import { hour, minute, Stage, t0, type Jobs } from '../../../../test/fixtures/engine-stage.js'
import { kinds } from '../../../../test/fixtures/feature-parts.js'

/** Monday at 10:00, when the rounds of these tests begin. */
export const ten = t0 + 10 * hour

/** Loops that sleep long, for tests in which many hours pass. */
export const patient = { pollMs: hour, leaseMs: 20 * minute } as const

/** Services that record when they begin. */
export class Diary {
  readonly begun: { readonly service: string; readonly at: number; readonly check: number }[] = []
  /** Those that fail. */
  failing = new Set<string>()
  /** How long each of them takes. */
  tookMs = 0
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  jobs(...names: readonly string[]): Jobs {
    return Object.fromEntries(names.map((name) => [name, (run: RunContext) => this.#perform(name, run)]))
  }

  /** What began, as `service@minutes after ten`. */
  get lines(): string[] {
    return this.begun.map(({ service, at }) => `${service}@${(at - ten) / minute}`)
  }

  async #perform(service: string, run: RunContext): Promise<void> {
    const { clock } = this.#stage
    this.begun.push({ service, at: clock.now(), check: run.dueAt.getTime() })
    if (this.tookMs > 0) await clock.sleep(this.tookMs, run.signal)
    if (this.failing.has(service)) throw new Error(`${service} exit 1`)
  }
}

/** A test app at 10:00, and a record of its services. */
export async function atTen(): Promise<{ stage: Stage; diary: Diary }> {
  const stage = new Stage()
  await stage.passTo(ten)
  return { stage, diary: new Diary(stage) }
}

/** The open cycle of a round. */
export async function cycleOf(stage: Stage, name: string): Promise<Cycle | undefined> {
  const [note] = await stage.store.stateEntries({ kind: 'cycle', names: [name], limit: 1 })
  return note?.value as unknown as Cycle | undefined
}

/** The timing of a service. */
export async function timingOf(stage: Stage, name: string): Promise<ServiceTiming | undefined> {
  const [note] = await stage.store.stateEntries({ kind: 'service', names: [name], limit: 1 })
  return note?.value as unknown as ServiceTiming | undefined
}

/** Whether every check of a round is in the ledger. */
export async function isCovered(stage: Stage, name: string): Promise<boolean> {
  return isComplete(await coverageOf(stage.store, await stage.trigger(name), { kinds }))
}
