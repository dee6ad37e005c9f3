import type { Migration } from '../../sql/migration.js'

/** An index of the unfinished runs of a trigger without those of backfills, which a tick must not read. The previous release can use it, too. */
export const version6: Migration = {
  version: 6,
  compatibleFrom: 2,
  statements: [
    `drop index runs_unfinished`,
    `create index runs_unfinished on runs (trigger, (case origin when 6 then 1 else 0 end), id)
      where trigger is not null and state < 4`,
  ],
}
