import type { Migration } from '../../sql/migration.js'

/** The rate limit of a queue. The previous release does not write it and keeps working. */
export const version5: Migration = {
  version: 5,
  compatibleFrom: 2,
  statements: [`alter table queues add column rate text`],
}
