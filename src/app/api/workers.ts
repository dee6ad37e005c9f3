import type { AppContext } from '../../features/app-context.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { drainAll, workersOf, type Drained, type WorkerInfo } from '../control/workers.js'

/** `app.workers`: the processes that share the store. */
export class Workers {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Every process that has not retired, host by host, with its load and its last heartbeat. */
  async list(): Promise<readonly WorkerInfo[]> {
    return await workersOf(await this.#context.store(), this.#context.now())
  }

  /** Lets a process, or all of a host, finish what it has and take nothing more. */
  async drain(target: string, options: DryRun = {}): Promise<readonly Drained[]> {
    return await this.#drain('drain', target, { isDraining: true, ...options })
  }

  /** Lets a process, or all of a host, take work again; a process that has exited does not come back. */
  async undrain(target: string, options: DryRun = {}): Promise<readonly Drained[]> {
    return await this.#drain('undrain', target, { isDraining: false, ...options })
  }

  async #drain(
    operation: string,
    target: string,
    options: { readonly isDraining: boolean } & DryRun,
  ): Promise<readonly Drained[]> {
    const { store, now, tell } = this.#context
    const outcome = (drained: readonly Drained[]): string => drained.map((one) => one.outcome).join(', ')
    return await tell({ operation, target, outcome, dryRun: options.dryRun }, async () =>
      drainAll(await store(), { target, ...options, now: now() }),
    )
  }
}
