import type { Migration } from '../../sql/migration.js'

/** State entries, sensors and assets. Older code does not apply end effects, so it is refused. */
export const version2: Migration = {
  version: 2,
  compatibleFrom: 2,
  statements: [
    `alter table runs rename column chained to follow`,
    `create table notes (
    kind text not null,
    name text not null,
    item text not null,
    revision integer not null,
    at integer not null,
    value text not null,
    primary key (kind, name, item)
  ) without rowid`,
    `create table seen (
    trigger text not null,
    digest text not null,
    until_at integer,
    primary key (trigger, digest)
  ) without rowid`,
    `create index seen_until on seen (until_at) where until_at is not null`,
    // The triggers that follow an asset.
    `create table followers (asset text not null, trigger text not null, primary key (asset, trigger)) without rowid`,
    `create index followers_trigger on followers (trigger)`,
    // A trigger with a sensor has 2 in "is_ticking": the planning of other triggers never reads it.
    `create index triggers_polled on triggers (next_at, name) where is_ticking = 2 and next_at is not null`,
    // Two tables that people read with plain SQL.
    `create view service_timing as select name as service, value ->> 'lastRunAt' / 1000 as last_run_timestamp,
    value ->> 'everyMs' / 1000 as interval_seconds, value -> 'inFlight' ->> 'round' as in_flight_in
    from notes where kind = 'service'`,
    `create view scheduler_state as select name as round, value ->> 'checkedAt' / 1000 as checked_at,
    value -> 'queue' as services_queue, value -> 'current' ->> 'service' as current_service,
    value -> 'results' as results from notes where kind = 'cycle'`,
  ],
}
