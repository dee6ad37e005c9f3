import type { Migration } from '../../sql/migration.js'

const tables = [
  // One row. The id of the store is random. A revision increases with every change of its subject, so that a process
  // knows whether its cache is valid.
  `create table meta (
    id integer primary key check (id = 1),
    store text not null default (lower(hex(randomblob(16)))),
    version integer not null,
    compatible_from integer not null,
    epoch integer not null default 0,
    highest_at integer not null default 0,
    jobs_revision integer not null default 0,
    limits_revision integer not null default 0
  )`,
  `create table jobs (name text primary key, source text not null, definition text not null) without rowid`,
  // "running" is kept only while the queue has a limit.
  `create table queues (
    name text primary key,
    concurrency integer,
    running integer not null default 0
  ) without rowid`,
  // The definition is in the row of the version in force.
  `create table triggers (
    name text primary key,
    source text not null,
    job text not null,
    fingerprint text not null,
    version integer not null,
    revision integer not null,
    defined_at integer not null,
    cursor_at integer not null,
    next_at integer,
    kept_at integer,
    chain_run text,
    chain_ms integer,
    is_active integer not null,
    is_ticking integer not null
  ) without rowid`,
  `create table versions (
    trigger text not null,
    version integer not null,
    valid_from integer not null,
    valid_until integer,
    tzdata text not null,
    definition text not null,
    primary key (trigger, version)
  ) without rowid`,
  `create table holds (
    id integer primary key,
    target text not null,
    from_at integer not null,
    until_at integer,
    actor text not null,
    note text not null,
    catch_up integer not null default 0,
    is_released integer not null default 0
  )`,
  // Rows stay: attempts name their worker by its key. "phase" is 0 live, 1 gone, 2 gone without runs.
  `create table workers (
    key integer primary key,
    id text not null unique,
    host text not null,
    pid integer not null,
    version text not null,
    started_at integer not null,
    lease_until integer not null,
    phase integer not null default 0
  )`,
  // How many runs have a slot; no row means none.
  `create table gates (key text primary key, admitted integer not null) without rowid`,
  // No key is reused, not even after the newest run was pruned: claims are cached by it.
  `create table runs (
    seq integer primary key autoincrement,
    id text not null unique,
    job text not null,
    state integer not null,
    priority integer not null,
    run_at integer not null,
    due_at integer not null,
    attempt integer not null default 0,
    failures integer not null default 0,
    crashes integer not null default 0,
    worker integer,
    claimed_at integer,
    started_at integer,
    finished_at integer,
    created_at integer not null,
    origin integer not null,
    trigger text,
    version integer,
    partition text,
    gates text,
    waits_for text,
    chained integer,
    cancel_requested integer,
    unique_key text,
    unique_until integer,
    labels text,
    reason text,
    payload text,
    result text,
    error text
  )`,
  // A first attempt that is done is stored in the row of its run; every other end is a row here.
  `create table attempts (
    run integer not null,
    attempt integer not null,
    worker integer,
    claimed_at integer not null,
    started_at integer,
    ended_at integer not null,
    ended text not null,
    error text,
    primary key (run, attempt)
  ) without rowid`,
  `create table notices (
    id integer primary key,
    worker integer not null,
    run text not null,
    attempt integer not null,
    kind text not null
  )`,
  `create table ledger (
    seq integer primary key,
    trigger text not null,
    first_at integer not null,
    last_at integer not null,
    version integer not null,
    reason text not null,
    rule text not null,
    blocker text,
    detail text,
    recorded_at integer not null
  )`,
  `create table logs (
    run integer not null,
    seq integer not null,
    attempt integer not null,
    at integer not null,
    level text not null,
    text text not null,
    primary key (run, seq)
  ) without rowid`,
  `create table log_use (
    run integer primary key,
    lines integer not null,
    bytes integer not null,
    is_cut integer not null
  )`,
]

// Partial indexes: a run is only in those that its state needs, so history costs a claim nothing.
const indexes = [
  `create index triggers_due on triggers (next_at, name) where is_ticking = 1 and next_at is not null`,
  `create index triggers_fingerprint on triggers (source, name, fingerprint) where is_active = 1`,
  `create index holds_target on holds (target, id)`,
  `create index workers_live on workers (lease_until) where phase = 0`,
  `create index workers_gone on workers (id) where phase = 1`,
  `create index runs_ready on runs (job, priority desc, run_at, seq) where state = 1`,
  `create index runs_delayed on runs (run_at, seq) where state = 0`,
  `create index runs_blocked on runs (waits_for, priority desc, run_at, seq) where state = 2`,
  `create index runs_running on runs (worker) where state = 3`,
  `create index runs_ended on runs (finished_at) where state >= 4`,
  `create index runs_unhappy on runs (state, id) where state in (5, 6)`,
  `create index runs_trigger on runs (trigger, due_at) where trigger is not null`,
  `create index runs_unfinished on runs (trigger, id) where trigger is not null and state < 4`,
  `create index runs_unique_open on runs (job, unique_key) where unique_key is not null and state < 4`,
  `create index runs_unique_until on runs (job, unique_key, unique_until) where unique_until is not null`,
  `create index notices_worker on notices (worker)`,
  `create index ledger_first on ledger (trigger, first_at, last_at)`,
]

/** The first release. */
export const version1: Migration = {
  version: 1,
  compatibleFrom: 1,
  statements: [...tables, ...indexes],
}
