import type { Migration } from '../../sql/migration.js'

/** The unfinished runs of a trigger, those of backfills apart: a tick does not read past them. A process of the release before reads the same rows by the same index. */
export const version6: Migration = {
  version: 6,
  compatibleFrom: 2,
  statements: [
    `drop index runs_unfinished`,
    `create index runs_unfinished on runs (trigger, (case origin when 6 then 1 else 0 end), id)
      where trigger is not null and state < 4`,
  ],
}
