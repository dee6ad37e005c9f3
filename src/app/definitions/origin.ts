import type { Author } from '../../kernel/audit/change-options.js'
import type { ReadAgain } from '../reload/read-again.js'
import type { Where } from './own-definitions.js'

/** Where the definitions of an app come from. */
export interface Origin {
  /** The program that defines them, if it is known. */
  readonly program?: string | undefined
  /** Tells where a part of them was written. */
  readonly where?: Where | undefined
  /** Who makes the changes that are asked of it; default: the app itself, by code. */
  readonly author?: Author | undefined
  /** Reads its config again; absent where there is none. */
  readonly readAgain?: ReadAgain | undefined
}
