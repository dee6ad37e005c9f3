import type { Migration } from '../../sql/migration.js'

// Relies on: runs_unique_open and runs_unique_until ("seq + 0" keeps the plan from the primary key), and the primary key of
// runs for the few that are found. Whoever records a run with a unique key holds the lock of the key until its transaction
// ends, so one who gets it sees what the one before has recorded. Never waits: the one who has it may be a transaction of
// the user, which takes an hour. Answers who holds the keys, by place.
/** The runs that have the unique keys of new ones. */
const refusedKeys = `create or replace function rota.refused_keys(
    ids text[], jobs text[], keys text[], ats bigint[], out places bigint[], out holders text[]
  ) language plpgsql as $body$
  declare
    are_free boolean;
    is_known boolean;
  begin
    select bool_and(pg_try_advisory_xact_lock(1383036002, hashtext('rota'::name || ':' || given.job || '=' || given.key)))
      into are_free from unnest(jobs, keys) given (job, key) where given.key is not null;
    if not are_free then
      raise exception 'a unique key is being recorded by another transaction' using errcode = 'RT001';
    end if;
    with given as (
      select n, id, job, key, least((
          select min(seq + 0) from rota.runs
          where runs.job = given.job and unique_key = given.key and unique_key is not null and state < 4
        ), (
          select min(seq + 0) from rota.runs
          where runs.job = given.job and unique_key = given.key and unique_until > given.at
        )) as holder
      from unnest(ids, jobs, keys, ats) with ordinality given (id, job, key, at, n) where key is not null
    ), led as (
      select *, first_value(id) over (partition by job, key order by holder is not null, n) as leader from given
    ), refused as (
      select n, case when holder is not null then (select runs.id from rota.runs where seq = holder) else leader end as holder,
        exists (select 1 from rota.runs where runs.id = led.id) as is_known
      from led where holder is not null or id <> leader
    )
    select bool_or(refused.is_known), array_agg(n), array_agg(holder) into is_known, places, holders from refused;
    if is_known then
      raise exception 'a run of that id exists' using errcode = 'RT003';
    end if;
  end $body$`

/** Unique keys without sorting. Processes of the previous release call the same function. */
export const version8: Migration = { version: 8, compatibleFrom: 1, statements: [refusedKeys] }
