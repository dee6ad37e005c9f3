import { RotaError } from '../../kernel/definition/errors.js'
import { checkStoreUrl } from '../../formats/store-url.js'
import { shownUrl } from '../../app/store/open-store.js'
import { createApp, type App } from '../../app/rota.js'
import type { Ended, OpenOptions, Surroundings, UseApp } from '../framework/command.js'
import { authorOf } from '../framework/author-of.js'
import { configOf, namedConfig, noConfig } from './config-of.js'
import { shortIdOf } from './short-id-of.js'
import { readAs } from '../framework/option-names.js'

/** Opens the store of a command, passes it as an app that is not started, and closes it at the end. */
export async function withApp(
  context: Surroundings,
  use: UseApp<App>,
  options: OpenOptions<App> = {},
): Ended {
  return await useAndClose(context, await openApp(context, options), use)
}

/** The same with the app that the config defines. */
export async function withConfigApp(context: Surroundings, use: UseApp<App>): Ended {
  const config = configOf(context)
  if (config === undefined) throw noConfig(context, '; --config names another')
  const { loadApp } = await import('../../app/definitions/load-app.js')
  const { directory } = context
  const app = await loadApp(config, {
    store: storeOf(context),
    directory,
    create: false,
    author: authorOf(context),
  })
  return await useAndClose(context, app, use)
}

async function useAndClose(context: Surroundings, app: App, use: UseApp<App>): Ended {
  try {
    return await use(app, {
      follow: async (id) => {
        if (context.args.flag('dry-run')) return context.out.show({ id }, `run ${id} is pending`)
        return await (await import('../views/follow.js')).followToEnd(context, app, id)
      },
      shortIds: (ids) => shortIdOf(app, ids),
    })
  } finally {
    await app.close()
  }
}

async function openApp(context: Surroundings, { create, orEmpty = false }: OpenOptions<App>): Promise<App> {
  const { directory } = context
  const store = await storeUrl(context)
  const author = authorOf(context)
  const inMemory = (): App => createApp({ store: 'memory:', directory }, 'api', { author })
  if (store?.startsWith('memory:') === true && !orEmpty) throw forgotten()
  const app = createApp({ store, directory, create: false }, 'api', { author })
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
  return createApp({ store, directory }, 'api', { author })
}

async function rehearse(empty: App, act: (empty: App) => Promise<unknown>): Promise<void> {
  try {
    await act(empty)
  } finally {
    await empty.close()
  }
}

/** A memory store is empty at the start of every command and lost at its end. */
function forgotten(): RotaError {
  return new RotaError(
    'STORE_URL',
    'a command cannot use the store memory:, because each process has its own; allowed are sqlite:<path>, files:<directory> and postgres://…',
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_NOT_FOUND'
}

function missing(app: App, error: unknown): RotaError {
  const message = `${shownUrl(app.storeUrl)} does not exist yet; \`rota up\` creates it, --store names another`
  return new RotaError('STORE_NOT_FOUND', message, { cause: error })
}

/** An option has priority over the environment, and that over the config, whose code then need not run. */
async function storeUrl(context: Surroundings): Promise<string | undefined> {
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
