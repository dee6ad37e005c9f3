import type { Migration } from '../../sql/migration.js'
import { slotFunctions } from './version-4-slots.js'
import { appendLog } from './version-4-log.js'

/** Log lines and slots in the usual transaction. Only adds functions: a process of the release before uses those that it knows. */
export const version4: Migration = {
  version: 4,
  compatibleFrom: 1,
  statements: [...slotFunctions, appendLog],
}
