import type { Migration } from '../../sql/migration.js'

/** The unfinished runs of a trigger, those of backfills apart: a tick does not read past them. A process of the release before reads the same rows by the same index. */
export const version7: Migration = {
  version: 7,
  compatibleFrom: 1,
  statements: [
    `drop index rota.runs_unfinished`,
    `create index runs_unfinished on rota.runs (trigger, (case origin when 6 then 1 else 0 end), id)
      where trigger is not null and state < 4`,
  ],
}
