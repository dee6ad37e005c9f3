import type { Migration } from '../../sql/migration.js'
import { slotFunctions } from './version-4-slots.js'
import { usualFunctions } from './version-4-usual.js'

/** Log lines, slots, limits of queues and unique keys in the usual transaction. Only adds functions: a process of the release before uses those that it knows. */
export const version4: Migration = {
  version: 4,
  compatibleFrom: 1,
  statements: [...slotFunctions, ...usualFunctions],
}
