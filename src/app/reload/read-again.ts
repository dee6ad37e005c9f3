import type { Clock } from '../../time/clock.js'
import type { Registry } from '../../engine/sync/registry.js'
import type { Where } from '../definitions/own-definitions.js'
import type { Settings } from '../rota-options.js'

/** The content of a config that was read again, before anything is written. */
export interface Reread {
  /** The path of the config. */
  readonly config: string
  readonly source: string
  readonly registry: Registry
  readonly settings: Settings
  readonly where: Where
}

/** Reads the config of an app again, for the app that runs with this clock and store; throws one error with all its faults. */
export type ReadAgain = (running: { readonly clock: Clock; readonly storeUrl: string }) => Promise<Reread>
