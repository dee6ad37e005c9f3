import type { AppContext } from '../../features/app-context.js'
import type { AskedAudit } from '../../engine/audit-change.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Store } from '../../store/port.js'
import type { ReloadedProcess, ReloadOptions } from '../reload/ask-to-reload.js'
import { drainAll, workerNames, workersOf, type Drained, type WorkerInfo } from '../control/workers.js'

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

  /** Drains a process, or all processes of a host: they finish their runs and take no new ones. */
  async drain(target: string, options: ChangeOptions = {}): Promise<readonly Drained[]> {
    return await this.#drain('drain', target, { isDraining: true, ...options })
  }

  /** Ends the draining of a process, or of all processes of a host; it does not restart a process that has exited. */
  async undrain(target: string, options: ChangeOptions = {}): Promise<readonly Drained[]> {
    return await this.#drain('undrain', target, { isDraining: false, ...options })
  }

  /** Makes processes of `rota up` read their configs again and apply the changes; resolves with their answers. */
  async reload(options: ReloadOptions = {}): Promise<readonly ReloadedProcess[]> {
    const { askToReload } = await import('../reload/ask-to-reload.js')
    return await askToReload(this.#context, options)
  }

  async #drain(
    operation: 'drain' | 'undrain',
    target: string,
    options: { readonly isDraining: boolean } & ChangeOptions,
  ): Promise<readonly Drained[]> {
    const outcome = (drained: readonly Drained[]): string => drained.map((one) => one.outcome).join(', ')
    const audit = async (store: Store): Promise<AskedAudit> => {
      const workers = (await store.workers()).filter((worker) => workerNames(worker).includes(target))
      const subjects = workers.map(({ id: name }) => ({ kind: 'worker', name }) as const)
      return { action: `worker.${operation}`, target: `worker:${target}`, subjects }
    }
    return await this.#context.change({ operation, target, outcome, options, audit }, (store, now) =>
      drainAll(store, { target, ...options, now }),
    )
  }
}
