import type { Migration } from '../../sql/migration.js'

/** Who changed what. The previous release writes nothing into it and goes on working. */
export const version3: Migration = {
  version: 3,
  compatibleFrom: 1,
  statements: [
    `create table rota.audit (
    seq bigint generated always as identity primary key,
    id text collate "C" not null unique,
    at bigint not null,
    actor text collate "C" not null,
    via text not null,
    action text collate "C" not null,
    target text collate "C" not null,
    reason text,
    before text,
    after text
  )`,
    `create index audit_target on rota.audit (target, seq)`,
    `create index audit_actor on rota.audit (actor, seq)`,
    `create index audit_action on rota.audit (action, seq)`,
    // Tells when the newest state entry was written.
    `create index notes_at on rota.notes (at)`,
  ],
}
