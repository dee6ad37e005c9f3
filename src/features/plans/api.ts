import type { AppContext } from '../app-context.js'
import { planPaths } from './triggers.js'

/** `app.plans`: plan files whose entries run when they are due. */
export class Plans {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Adds a plan file, which is read at the start. */
  add(path: string): void {
    this.#context.assertNotStarted('a plan')
    this.#context.definitions.part(planPaths).push(path)
  }
}
