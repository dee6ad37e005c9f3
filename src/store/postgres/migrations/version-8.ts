import type { Migration } from '../../sql/migration.js'
import { commitWork, leaveSlots } from './version-8-commit.js'
import { refusedKeys } from './version-8-keys.js'

/** The usual transaction claims runs where they wait. Only adds functions: a process of the release before uses those that it knows. */
export const version8: Migration = {
  version: 8,
  compatibleFrom: 1,
  statements: [leaveSlots, refusedKeys, commitWork],
}
