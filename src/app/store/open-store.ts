import { chainsOnly } from '../../kernel/run/end-effect.js'
import type { Store } from '../../store/port.js'
import { loadEndEffects } from '../features.js'
import { openAdapter, type OpenOptions } from './open-adapter.js'

/** Opens the store of a URL with the end effects of all features; a reader ends no runs. */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  return await openAdapter(url, options, options.reader === undefined ? await loadEndEffects() : chainsOnly)
}
