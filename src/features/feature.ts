import type { EndEffect } from '../kernel/run/end-effect.js'

/** One feature of Rota: everything it adds to the engine, the app and the command line. */
export interface Feature {
  /** Its name, which is also the name of its folder. */
  readonly name: string
  /** What the ends of its runs change besides the runs. */
  readonly endEffects?: () => Promise<readonly EndEffect[]>
}
