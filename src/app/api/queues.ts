import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { QueueStatus } from '../../store/port.js'
import type { HoldOptions } from '../control/holds.js'
import { hold, release } from './holds.js'

/** `app.queues`: the queues with their limits and pauses. */
export class Queues {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** All queues, by name. */
  async list(): Promise<readonly QueueStatus[]> {
    return await (await this.#context.store()).queues()
  }

  /** Stops claims from a queue; false if it was already paused. */
  async pause(name: string, options: HoldOptions = {}): Promise<boolean> {
    return await hold(this.#context, `queue:${name}`, options)
  }

  /** Allows claims from a queue again; false if it was not paused. */
  async resume(name: string, options: ChangeOptions = {}): Promise<boolean> {
    return await release(this.#context, `queue:${name}`, options)
  }
}
