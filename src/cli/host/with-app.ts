import { RotaError } from '../../kernel/definition/errors.js'
import { checkStoreUrl } from '../../formats/store-url.js'
import { shownUrl } from '../../app/store/open-store.js'
import type { Rota } from '../../app/rota.js'
import type { Context } from '../framework/command.js'
import { configOf, namedConfig } from './config-of.js'
import { readAs } from '../framework/option-names.js'

/** Opens the store that a command means, hands it over as an app that is not started, and closes it in the end. */
export async function withApp(
  context: Context,
  act: (app: Rota) => Promise<number>,
  options: {
    /** Makes the store where there is none; tried on an empty one first, so that what is refused leaves no store behind. */
    readonly create?: ((empty: Rota) => Promise<unknown>) | undefined
    /** Where there is no store yet, an empty one stands for it that leaves nothing behind. */
    readonly orEmpty?: boolean
  } = {},
): Promise<number> {
  const app = await openApp(context, options)
  try {
    return await act(app)
  } finally {
    await app.close()
  }
}

async function openApp(
  context: Context,
  { create, orEmpty = false }: NonNullable<Parameters<typeof withApp>[2]>,
): Promise<Rota> {
  const { directory } = context
  // Loaded only here, so that no help and no completion waits for it.
  const { createApp } = await import('../../app/rota.js')
  const store = await storeUrl(context)
  const inMemory = (): Rota => createApp({ store: 'memory:', directory }, 'api')
  if (store?.startsWith('memory:') === true && !orEmpty) throw forgotten()
  const app = createApp({ store, directory, create: false }, 'api')
  try {
    await app.store()
    return app
  } catch (error) {
    await app.close()
    if (!isMissing(error)) throw error
    if (orEmpty) return inMemory()
    if (create === undefined) throw missing(app, error)
  }
  await rehearse(inMemory(), create)
  return createApp({ store, directory }, 'api')
}

async function rehearse(empty: Rota, act: (empty: Rota) => Promise<unknown>): Promise<void> {
  try {
    await act(empty)
  } finally {
    await empty.close()
  }
}

/** A store in memory begins empty with every command, and is forgotten at its end. */
function forgotten(): RotaError {
  return new RotaError(
    'STORE_URL',
    'a command cannot use the store memory:, which each process has for itself and forgets at its end; allowed are sqlite:<path>, files:<directory> and postgres://…',
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_NOT_FOUND'
}

function missing(app: Rota, error: unknown): RotaError {
  const message = `${shownUrl(app.storeUrl)} does not exist yet; \`rota up\` makes it, and --store names another`
  return new RotaError('STORE_NOT_FOUND', message, { cause: error })
}

/** What was said counts before the environment, and that before the config, whose code then need not run at all. */
async function storeUrl(context: Context): Promise<string | undefined> {
  const said = storeOf(context)
  // One that was named has to be there, also where it is not needed.
  namedConfig(context)
  if (said !== undefined) return said
  const config = configOf(context)
  if (config === undefined) return undefined
  const { storeOfConfig } = await import('../../app/definitions/load-app.js')
  return await storeOfConfig(config)
}

/** The store that was named on the command line, else the one that the environment names. */
export function storeOf({ args, environment }: Context): string | undefined {
  const said = args.text('store')
  if (said !== undefined) return readAs('--store', () => checkStoreUrl(said))
  const store = environment['ROTA_STORE'] ?? ''
  return store === '' ? undefined : readAs('ROTA_STORE', () => checkStoreUrl(store))
}
