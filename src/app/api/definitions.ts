import type { AppContext } from '../../features/app-context.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { DefinitionFault } from '../definitions/check-definitions.js'
import type { OwnDefinitions } from '../definitions/own-definitions.js'
import type { DefinitionDiff } from '../explain/definition-diff.js'
import type { Surprise } from '../explain/lint.js'
import { loadTriggerKinds } from '../features.js'

/** `app.definitions`: checks the definitions of this app before its start. Nothing here writes to the store. */
export class DefinitionsApi {
  readonly #context: AppContext
  readonly #own: OwnDefinitions

  constructor(context: AppContext, own: OwnDefinitions) {
    this.#context = context
    this.#own = own
  }

  /** Their source in the store, such as `config:shop`. */
  get source(): string {
    return this.#own.source
  }

  /** All faults for which a start would be refused, not only the first. */
  async check(): Promise<readonly DefinitionFault[]> {
    const { faultsOf } = await import('../definitions/check-definitions.js')
    const { definitions: registry, directory, now } = this.#context
    const { source, where } = this.#own.all()
    const kinds = await loadTriggerKinds()
    return await faultsOf(await this.#store(), { source, where, registry, kinds, directory, now: now() })
  }

  /** Settings that are allowed but may surprise you; durations of runs are read from the store. */
  async lint(): Promise<readonly Surprise[]> {
    const { lint } = await import('../explain/lint.js')
    const { source, where } = this.#own.all()
    const { definitions, now } = this.#context
    const whereOf = (trigger: string, option: string): string => {
      const keys = [definitions.sectionOf(trigger), trigger, option]
      return where?.(keys) ?? keys.join('.')
    }
    return await lint({ triggers: source.triggers, whereOf, store: await this.#store(), now: now() })
  }

  /** What a start would change in the store and in the next days. */
  async diff({ days = 7 }: { readonly days?: number } = {}): Promise<DefinitionDiff> {
    const { diffDefinitions } = await import('../explain/definition-diff.js')
    const kinds = await loadTriggerKinds()
    const { source } = this.#own.all()
    return await diffDefinitions(await this.#store(), source, { kinds, now: this.#context.now(), days })
  }

  /** The store; an empty one if there is none yet. */
  async #store(): Promise<Store> {
    try {
      return await this.#context.store()
    } catch (error) {
      if (!(error instanceof RotaError) || error.code !== 'STORE_NOT_FOUND') throw error
      const { openMemoryStore } = await import('../../store/memory/memory-store.js')
      const { emptyTables } = await import('../../store/memory/tables.js')
      return openMemoryStore(emptyTables())
    }
  }
}
