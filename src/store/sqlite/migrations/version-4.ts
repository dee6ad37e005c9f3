import type { Migration } from '../../sql/migration.js'

/** The audit. The previous release does not write it and keeps working. */
export const version4: Migration = {
  version: 4,
  compatibleFrom: 2,
  statements: [
    `create table audit (
    seq integer primary key autoincrement,
    id text not null unique,
    at integer not null,
    actor text not null,
    via text not null,
    action text not null,
    target text not null,
    reason text,
    before text,
    after text
  )`,
    `create index audit_target on audit (target, seq)`,
    `create index audit_actor on audit (actor, seq)`,
    `create index audit_action on audit (action, seq)`,
    // For the time of the newest state entry.
    `create index notes_at on notes (at)`,
  ],
}
