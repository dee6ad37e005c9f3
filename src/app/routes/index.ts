import type { Route } from '../../wire/route.js'
import type { App } from '../rota.js'
import { auditRoutes } from './audit.js'
import { backfillRoutes } from './backfills.js'
import { explainRoutes } from './explain.js'
import { operationRoutes } from './operations.js'
import { reloadRoutes } from './reload.js'
import { runRoutes } from './runs.js'
import { triggerChangeRoutes } from './trigger-changes.js'
import { triggerRoutes } from './triggers.js'

/** The routes that belong to no feature. */
export const coreRoutes: readonly Route<App>[] = [
  ...runRoutes,
  ...triggerRoutes,
  ...triggerChangeRoutes,
  ...backfillRoutes,
  ...operationRoutes,
  ...reloadRoutes,
  ...explainRoutes,
  ...auditRoutes,
]
