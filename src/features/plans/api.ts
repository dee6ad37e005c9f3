import type { AppContext } from '../app-context.js'
import { definitionFiles } from '../../engine/sync/definition-files.js'

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
}
