/** The routes of the dashboard. Each answers what one page shows, and changes with it. */
import type { Route } from '../../../wire/route.js'
import type { App } from '../../rota.js'
import { nowRoutes } from './now.js'
import { recentRoutes } from './recent.js'
import { runPageRoutes } from './runs.js'
import { timelineRoutes } from './timeline.js'

/** Makes the routes; each set of them remembers answers of its own. */
export function uiRoutes(): readonly Route<App>[] {
  return [...nowRoutes(), ...timelineRoutes, ...recentRoutes, ...runPageRoutes]
}
