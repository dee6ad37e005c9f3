import type { Migration } from '../../sql/migration.js'
import { commitWork } from './version-8-commit.js'
import { refusedKeys } from './version-8-keys.js'
import { passSlotsOn } from './version-8-slots.js'

/** The usual transaction claims runs where they wait. A process of the release before goes on with the functions that it knows. */
export const version8: Migration = {
  version: 8,
  compatibleFrom: 1,
  statements: [passSlotsOn, refusedKeys, commitWork],
}
