import type { Migration } from '../../sql/migration.js'

/** The columns for `rota workers`. The previous release keeps working without them: it registers only workers. */
export const version3: Migration = {
  version: 3,
  compatibleFrom: 2,
  statements: [
    `alter table workers add column roles text not null default 'worker'`,
    `alter table workers add column slots integer`,
    `alter table workers add column beat_at integer`,
    `alter table workers add column is_draining integer not null default 0`,
  ],
}
