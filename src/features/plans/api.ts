import type { AppContext } from '../app-context.js'
import { definitionFiles } from '../../engine/sync/definition-files.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { parseDuration } from '../../time/duration.js'
import type { CheckedPlan } from './check.js'
import type { EnqueuedEntry } from './enqueue-entry.js'
import type { PlanInfo } from './named-plan.js'
import type { Pass } from './pass/schedule-pass.js'

/** `app.plans`: plan files whose entries run when they are due. */
export class Plans {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Adds a plan file, which is read at the start. */
  add(path: string): void {
    this.#context.assertNotStarted('a plan')
    this.#context.definitions.part(definitionFiles).push(path)
  }

  /** The plans that this app names, and those of other apps of which the store has entries, by name. */
  async list(): Promise<readonly PlanInfo[]> {
    const { listPlans } = await import('./named-plan.js')
    return await listPlans(this.#context, await this.#context.store())
  }

  /** Reads and checks a plan that this app names; throws one error with all its faults. */
  async check(name: string): Promise<CheckedPlan> {
    const { checkNamed } = await import('./named-plan.js')
    return await checkNamed(this.#context, name)
  }

  /** Enqueues one entry of a plan that this app names, also a missed one, but never twice. */
  async enqueue(name: string, id: string, options: ChangeOptions = {}): Promise<EnqueuedEntry> {
    const { dryRun } = options
    const { enqueueNamed } = await import('./named-plan.js')
    const asked = {
      operation: 'enqueue entry',
      target: `${name} ${id}`,
      outcome: ({ outcome }: EnqueuedEntry) => outcome,
      options,
      audit: { action: 'plan.enqueue', target: `plan:${name}`, subjects: [], after: { entry: id } },
      needsJobs: true,
    }
    return await this.#context.change(asked, (store) =>
      enqueueNamed(this.#context, store, { plan: name, id, isDry: dryRun === true }),
    )
  }

  /** What a pass of `rota schedule` over a plan that this app names would enqueue in its store. */
  async rehearse(
    name: string,
    options: { readonly window?: string | number; readonly lookBack?: string | number } = {},
  ): Promise<Pass> {
    const { rehearsePass } = await import('./named-plan.js')
    const { window = '10m', lookBack = '24h' } = options
    return await rehearsePass(this.#context, await this.#context.store(), {
      plan: name,
      windowMs: parseDuration(window),
      lookBackMs: parseDuration(lookBack),
    })
  }
}
