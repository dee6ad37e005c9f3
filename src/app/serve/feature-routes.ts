import type { Feature } from '../../features/feature.js'
import { findFeatures } from '../../features/find-features.js'
import type { FeatureGauge } from '../../wire/feature-gauge.js'
import type { Route } from '../../wire/route.js'
import type { App } from '../rota.js'

/** Loads the routes of all features. */
export async function loadFeatureRoutes(): Promise<readonly Route<App>[]> {
  const features = findFeatures()
  const lists = features.map(
    async (feature): Promise<readonly Route<App>[]> => ('routes' in feature ? await feature.routes() : []),
  )
  return (await Promise.all(lists)).flat()
}

/** A door of a feature: it answers requests outside the API, and checks its callers itself. */
export type Door = (app: App, request: Request) => Promise<Response>

/** Loads the doors of all features, by the first part of their path. */
export async function loadDoors(): Promise<ReadonlyMap<string, Door>> {
  const features: readonly Feature[] = findFeatures()
  return new Map(features.flatMap(({ doors = {} }) => Object.entries(doors) as [string, Door][]))
}

/** Loads the gauges that features add to the metrics. */
export async function loadGauges(): Promise<readonly FeatureGauge[]> {
  const features: readonly Feature[] = findFeatures()
  return (await Promise.all(features.map(async ({ gauges }) => (await gauges?.()) ?? []))).flat()
}
