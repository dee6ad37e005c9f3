import type { Author } from '../../kernel/audit/change-options.js'
import type { ReadAgain } from '../reload/read-again.js'
import type { Where } from './own-definitions.js'

/** Where the definitions of an app come from. */
export interface Origin {
  /** The program that defines them, if it is known. */
  readonly program?: string | undefined
  /** Returns where a part of them was written. */
  readonly where?: Where | undefined
  /** The actor of its changes; default: the app itself, by code. */
  readonly author?: Author | undefined
  /** Reads its config again; absent if there is none. */
  readonly readAgain?: ReadAgain | undefined
}
