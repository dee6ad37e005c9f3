import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Hold, SwitchName } from '../../kernel/hold/hold.js'
import type { HoldOptions } from '../control/holds.js'
import { hold, release } from './holds.js'

/** A stored kill switch. */
export interface SwitchStatus {
  readonly name: SwitchName
  readonly isOn: boolean
  /** Who turned it off, why and until when; absent while it is on. */
  readonly hold: Hold | undefined
}

const names: readonly SwitchName[] = ['pipeline', 'scheduler', 'worker']

/** `app.switches`: the kill switches that every process of the store obeys. */
export class Switches {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** The three switches. */
  async list(): Promise<readonly SwitchStatus[]> {
    const { store, now } = this.#context
    const open = await (await store()).holds({ openAt: now() })
    return names.map((name) => {
      const found = open.find(({ target }) => target === `switch:${name}`)
      return { name, isOn: found === undefined, hold: found }
    })
  }

  /** Turns a switch on; false if it was already on. */
  async on(name: SwitchName, options: ChangeOptions = {}): Promise<boolean> {
    return await release(this.#context, `switch:${name}`, options)
  }

  /** Turns a switch off for every process; false if it was already off. */
  async off(name: SwitchName, options: HoldOptions = {}): Promise<boolean> {
    return await hold(this.#context, `switch:${name}`, options)
  }
}
