/** The routes of the dashboard. Each returns what one page shows, and changes with that page. */
import type { Route } from '../../../wire/route.js'
import type { App } from '../../rota.js'
import { nowRoutes } from './now.js'
import { recentRoutes } from './recent.js'
import { runPageRoutes } from './runs.js'
import { timelineRoutes } from './timeline.js'

/** Creates the routes; each set has its own cache. */
export function uiRoutes(): readonly Route<App>[] {
  return [...nowRoutes(), ...timelineRoutes, ...recentRoutes, ...runPageRoutes]
}
