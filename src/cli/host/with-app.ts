import { createApp, type App } from '../../app/rota.js'
import type { Ended, OpenOptions, Surroundings, UseApp } from '../framework/command.js'
import { authorOf } from '../framework/author-of.js'
import { configOf, noConfig } from './config-of.js'
import { isMissing, missingStore, namedStore, refuseMemory, storeOf } from './named-store.js'
import { shortIdOf } from './short-id-of.js'

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
  const store = await namedStore(context)
  const author = authorOf(context)
  const inMemory = (): App => createApp({ store: 'memory:', directory }, 'api', { author })
  if (!orEmpty) refuseMemory(store)
  const app = createApp({ store, directory, create: false }, 'api', { author })
  try {
    await app.store()
    return app
  } catch (error) {
    await app.close()
    if (!isMissing(error)) throw error
    if (orEmpty) return inMemory()
    if (create === undefined) throw missingStore(app.storeUrl, error)
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
