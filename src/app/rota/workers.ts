import { drainAll, workersOf, type Drained, type WorkerInfo } from '../control/workers.js'
import { RotaHolds } from './holds.js'

/** The processes that share the store: which there are, and how to empty them. */
export abstract class RotaWorkers extends RotaHolds {
  /** Every process that has not retired, host by host, with its load and its last heartbeat. */
  async workers(): Promise<readonly WorkerInfo[]> {
    return await workersOf(await this.store(), this.now())
  }

  /** Lets a process, or all of a host, take nothing more: what it has goes on to its end. */
  async drain(target: string): Promise<readonly Drained[]> {
    return await this.#drain('drain', target, true)
  }

  /** Lets a process, or all of a host, work again; one that has ended since is not brought back. */
  async undrain(target: string): Promise<readonly Drained[]> {
    return await this.#drain('undrain', target, false)
  }

  async #drain(operation: string, target: string, isDraining: boolean): Promise<readonly Drained[]> {
    const outcome = (drained: readonly Drained[]): string => drained.map((one) => one.outcome).join(', ')
    return await this.tell({ operation, target, outcome }, async () =>
      drainAll(await this.store(), { target, isDraining, now: this.now() }),
    )
  }
}
