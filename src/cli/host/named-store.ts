import { shownUrl } from '../../app/store/store-address.js'
import { checkStoreUrl } from '../../formats/store-url.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Surroundings } from '../framework/command.js'
import { readAs } from '../framework/option-names.js'
import { configOf, namedConfig } from './config-of.js'

/** The store of a command. An option has priority over the environment, and that over the config, whose code then need not run. */
export async function namedStore(context: Surroundings): Promise<string | undefined> {
  const said = storeOf(context)
  // A named config must exist, even if it is not needed.
  namedConfig(context)
  if (said !== undefined) return said
  const config = configOf(context)
  if (config === undefined) return undefined
  const { storeOfConfig } = await import('../../app/definitions/load-app.js')
  return await storeOfConfig(config)
}

/** The store: from the option (default: `--store`), otherwise from the environment. */
export function storeOf({ args, environment }: Surroundings, option = 'store'): string | undefined {
  const given = args.text(option)
  if (given !== undefined) return readAs(`--${option}`, () => checkStoreUrl(given))
  const store = environment['ROTA_STORE'] ?? ''
  return store === '' || option !== 'store' ? undefined : readAs('ROTA_STORE', () => checkStoreUrl(store))
}

/** Refuses a memory store: it is empty at the start of every command and lost at its end. */
export function refuseMemory(store: string | undefined): void {
  if (store?.startsWith('memory:') !== true) return
  throw new RotaError(
    'STORE_URL',
    'a command cannot use the store memory:, because each process has its own; allowed are sqlite:<path>, files:<directory> and postgres://…',
  )
}

/** Whether a store could not be opened because it does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_NOT_FOUND'
}

/** The error for a command on a store that does not exist yet. */
export function missingStore(url: string, cause: unknown): RotaError {
  const message = `${shownUrl(url)} does not exist yet; \`rota up\` creates it, --store names another`
  return new RotaError('STORE_NOT_FOUND', message, { cause })
}
