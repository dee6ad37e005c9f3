import type { App } from '../../app/rota.js'
import { openReader, type StoreReader } from '../../app/store/store-reader.js'
import { absoluteUrl, defaultStore } from '../../formats/store-url.js'
import type { Context, Ended, Surroundings } from '../framework/command.js'
import { isMissing, missingStore, namedStore, refuseMemory } from './named-store.js'

/** Performs a command that only reads the store that the command line names. It starts faster than one on an app. */
export function onStore(
  act: (reader: StoreReader, context: Context<App>) => Ended,
): (context: Context<App>) => Ended {
  return async (context) => {
    const reader = await opened(context)
    try {
      return await act(reader, context)
    } finally {
      await reader.close()
    }
  }
}

async function opened(context: Surroundings): ReturnType<typeof openReader> {
  const store = (await namedStore(context)) ?? defaultStore
  refuseMemory(store)
  try {
    return await openReader(store, context.directory)
  } catch (error) {
    throw isMissing(error) ? missingStore(absoluteUrl(store, context.directory), error) : error
  }
}
