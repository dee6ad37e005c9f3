import type { Migration } from '../../sql/migration.js'
import { enqueueInTransaction } from './version-1-enqueue.js'
import { plainFunctions } from './version-1-plain.js'

// Names and ids have the collation "C": they compare by their bytes, whatever the database's language, so they sort alike in every store.
const tables = [
  // One row. The store's own name is drawn when it is made. A revision rises with every change of what it counts, so that a process knows whether what it remembers still holds.
  `create table rota.meta (
    id integer primary key check (id = 1),
    store text not null default replace(gen_random_uuid()::text, '-', ''),
    version integer not null,
    compatible_from integer not null,
    epoch bigint not null default 0,
    highest_at bigint not null default 0,
    jobs_revision bigint not null default 0,
    limits_revision bigint not null default 0
  ) with (fillfactor = 10)`,
  `create table rota.jobs (
    name text collate "C" primary key,
    source text collate "C" not null,
    queue text collate "C" not null,
    definition text not null
  )`,
  // "running" is kept only while the queue has a limit.
  `create table rota.queues (
    name text collate "C" primary key,
    concurrency bigint,
    running bigint not null default 0
  ) with (fillfactor = 50)`,
  // The definition stands in the row of the version in force.
  `create table rota.triggers (
    name text collate "C" primary key,
    source text collate "C" not null,
    job text collate "C" not null,
    fingerprint text not null,
    version integer not null,
    revision bigint not null,
    defined_at bigint not null,
    cursor_at bigint not null,
    next_at bigint,
    kept_at bigint,
    chain_run text collate "C",
    chain_ms bigint,
    is_active smallint not null,
    is_ticking smallint not null
  ) with (fillfactor = 80)`,
  `create table rota.versions (
    trigger text collate "C" not null,
    version integer not null,
    valid_from bigint not null,
    valid_until bigint,
    tzdata text not null,
    definition text not null,
    primary key (trigger, version)
  )`,
  `create table rota.holds (
    id bigint primary key,
    target text collate "C" not null,
    from_at bigint not null,
    until_at bigint,
    actor text not null,
    note text not null,
    catch_up smallint not null default 0,
    is_released smallint not null default 0
  )`,
  // Rows stay: attempts name their worker by its key. "phase" is 0 live, 1 gone, 2 gone and nothing of it is left.
  `create table rota.workers (
    key bigint generated always as identity primary key,
    id text collate "C" not null unique,
    host text not null,
    pid bigint not null,
    version text not null,
    started_at bigint not null,
    lease_until bigint not null,
    phase smallint not null default 0
  ) with (fillfactor = 50)`,
  // How many runs a gate has let in; no row means none.
  `create table rota.gates (key text collate "C" primary key, admitted bigint not null) with (fillfactor = 50)`,
  `create table rota.runs (
    seq bigint generated always as identity primary key,
    id text collate "C" not null unique,
    job text collate "C" not null,
    state smallint not null,
    priority bigint not null,
    run_at bigint not null,
    due_at bigint not null,
    attempt integer not null default 0,
    failures integer not null default 0,
    crashes integer not null default 0,
    worker bigint,
    claimed_at bigint,
    started_at bigint,
    finished_at bigint,
    created_at bigint not null,
    origin smallint not null,
    trigger text collate "C",
    version integer,
    partition text collate "C",
    gates text,
    waits_for text collate "C",
    follow smallint,
    cancel_requested smallint,
    unique_key text collate "C",
    unique_until bigint,
    labels text,
    reason text,
    payload text,
    result text,
    error text
  ) with (
    fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
  )`,
  // A first attempt that ends done lives in the row of its run; every other end is a row here.
  `create table rota.attempts (
    run bigint not null,
    attempt integer not null,
    worker bigint,
    claimed_at bigint not null,
    started_at bigint,
    ended_at bigint not null,
    ended text not null,
    error text,
    primary key (run, attempt)
  )`,
  `create table rota.notices (
    id bigint generated always as identity primary key,
    worker bigint not null,
    run text not null,
    attempt integer not null,
    kind text not null
  )`,
  `create table rota.ledger (
    seq bigint generated always as identity primary key,
    trigger text collate "C" not null,
    first_at bigint not null,
    last_at bigint not null,
    version integer not null,
    reason text not null,
    rule text not null,
    blocker text,
    detail text,
    recorded_at bigint not null
  )`,
  `create table rota.logs (
    run bigint not null,
    seq bigint not null,
    attempt integer not null,
    at bigint not null,
    level text not null,
    text text not null,
    primary key (run, seq)
  )`,
  `create table rota.log_use (
    run bigint primary key,
    lines bigint not null,
    bytes bigint not null,
    is_cut smallint not null
  ) with (fillfactor = 50)`,
  `create table rota.notes (
    kind text collate "C" not null,
    name text collate "C" not null,
    item text collate "C" not null,
    revision bigint not null,
    at bigint not null,
    value text not null,
    primary key (kind, name, item)
  )`,
  `create table rota.seen (
    trigger text collate "C" not null,
    digest text collate "C" not null,
    until_at bigint,
    primary key (trigger, digest)
  )`,
  // Which triggers the end of an asset's run is an arrival for.
  `create table rota.followers (asset text collate "C" not null, trigger text collate "C" not null, primary key (asset, trigger))`,
]

// Partial ones: a run stands in the few that its state needs, so history costs a claim nothing.
const indexes = [
  `create index triggers_due on rota.triggers (next_at, name) where is_ticking = 1 and next_at is not null`,
  // A trigger with a sensor has 2 in "is_ticking": whoever plans the others never meets it.
  `create index triggers_polled on rota.triggers (next_at, name) where is_ticking = 2 and next_at is not null`,
  `create index triggers_fingerprint on rota.triggers (source, name, fingerprint) where is_active = 1`,
  `create index holds_target on rota.holds (target, id)`,
  `create index workers_live on rota.workers (lease_until) where phase = 0`,
  `create index workers_gone on rota.workers (id) where phase = 1`,
  `create index runs_ready on rota.runs (job, priority desc, run_at, seq) where state = 1`,
  `create index runs_delayed on rota.runs (run_at, seq) where state = 0`,
  `create index runs_delayed_gated on rota.runs (run_at, seq) where state = 0 and gates is not null`,
  `create index runs_blocked on rota.runs (waits_for, priority desc, run_at, seq) where state = 2`,
  `create index runs_running on rota.runs (worker) where state = 3`,
  `create index runs_ended on rota.runs (finished_at, id) where state >= 4`,
  `create index runs_unhappy on rota.runs (state, id) where state in (5, 6)`,
  `create index runs_trigger on rota.runs (trigger, due_at) where trigger is not null`,
  `create index runs_unfinished on rota.runs (trigger, id) where trigger is not null and state < 4`,
  `create index runs_unique_open on rota.runs (job, unique_key) where unique_key is not null and state < 4`,
  `create index runs_unique_until on rota.runs (job, unique_key, unique_until) where unique_until is not null`,
  `create index notices_worker on rota.notices (worker)`,
  `create index ledger_first on rota.ledger (trigger, first_at, last_at)`,
  `create index seen_until on rota.seen (until_at) where until_at is not null`,
  `create index followers_trigger on rota.followers (trigger)`,
]

// The two tables that people look into with plain SQL.
const views = [
  `create view rota.service_timing as select name as service,
    (value::json ->> 'lastRunAt')::bigint / 1000 as last_run_timestamp,
    (value::json ->> 'everyMs')::bigint / 1000 as interval_seconds, value::json -> 'inFlight' ->> 'round' as in_flight_in
    from rota.notes where kind = 'service'`,
  `create view rota.scheduler_state as select name as round, (value::json ->> 'checkedAt')::bigint / 1000 as checked_at,
    value::json -> 'queue' as services_queue, value::json -> 'current' ->> 'service' as current_service,
    value::json -> 'results' as results from rota.notes where kind = 'cycle'`,
]

/** The first release. */
export const version1: Migration = {
  version: 1,
  compatibleFrom: 1,
  statements: [...tables, ...indexes, ...views, ...enqueueInTransaction, ...plainFunctions],
}
