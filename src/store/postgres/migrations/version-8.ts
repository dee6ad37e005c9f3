import type { Migration } from '../../sql/migration.js'
import { refusedKeys } from './version-8-keys.js'

/** Unique keys without sorting. Processes of the previous release call the same function. */
export const version8: Migration = { version: 8, compatibleFrom: 1, statements: [refusedKeys] }
