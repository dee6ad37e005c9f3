import { RotaError } from '../app/errors.js'
import { findConfig } from '../app/find-config.js'
import { shownUrl } from '../app/open-store.js'
import type { Rota } from '../app/rota.js'
import type { Context } from './command.js'

/** Opens the store that a command means, hands it over as an app that is not started, and closes it in the end. */
export async function withApp(
  context: Context,
  act: (app: Rota) => Promise<number>,
  options: {
    readonly create?: boolean
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
  { create = false, orEmpty = false }: NonNullable<Parameters<typeof withApp>[2]>,
): Promise<Rota> {
  const { directory } = context
  // Loaded only here, so that no help and no completion waits for it.
  const { Rota } = await import('../app/rota.js')
  const app = new Rota({ store: await storeUrl(context), directory, create }, 'api')
  try {
    await app.store()
    return app
  } catch (error) {
    await app.close()
    if (!isMissing(error)) throw error
    if (orEmpty) return new Rota({ store: 'memory:', directory }, 'api')
    throw missing(app, error)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_NOT_FOUND'
}

function missing(app: Rota, error: unknown): RotaError {
  const message = `${shownUrl(app.storeUrl)} does not exist yet; \`rota up\` makes it, and --store names another`
  return new RotaError('STORE_NOT_FOUND', message, { cause: error })
}

/** What was said counts before the environment, and that before the config, whose code then need not run at all. */
async function storeUrl({ args, environment, directory }: Context): Promise<string | undefined> {
  const said = args.text('store') ?? namedStore(environment)
  if (said !== undefined) return said
  const config = args.text('config') ?? findConfig(directory)
  if (config === undefined) return undefined
  const { storeOfConfig } = await import('../app/load-app.js')
  return await storeOfConfig(config)
}

/** The store that the environment names. */
export function namedStore(environment: Context['environment']): string | undefined {
  const store = environment['ROTA_STORE']
  return store === '' ? undefined : store
}
