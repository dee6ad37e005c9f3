import { findFeatures } from '../../features/find-features.js'
import type { Route } from '../../wire/route.js'
import type { App } from '../rota.js'

/** Loads the routes of all features. */
export async function loadFeatureRoutes(): Promise<readonly Route<App>[]> {
  const features = await findFeatures()
  const lists = features.map(
    async (feature): Promise<readonly Route<App>[]> => ('routes' in feature ? await feature.routes() : []),
  )
  return (await Promise.all(lists)).flat()
}
