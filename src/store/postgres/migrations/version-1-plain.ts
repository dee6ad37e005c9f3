/*
 * The usual transaction, as functions: their statements are planned once for each connection, behind every kind of
 * pooler, and all of them travel in one go. What is not usual ends in an error of its own, and the transaction is made
 * again in the other way, which can do everything.
 */

const begin = `create function rota.plain_begin(jobs_known bigint, limits_known bigint, stall_ms text, wait_ms text)
  returns double precision language plpgsql as $body$
  declare
    known rota.meta;
  begin
    perform set_config('idle_in_transaction_session_timeout', stall_ms, true), set_config('lock_timeout', wait_ms, true);
    perform pg_advisory_xact_lock_shared(rota_lock_key);
    select * into strict known from rota.meta where id = 1;
    if known.jobs_revision <> jobs_known or known.limits_revision <> limits_known then
      raise exception 'the definitions have changed' using errcode = 'RT002';
    end if;
    return extract(epoch from clock_timestamp()) * 1000;
  end $body$`

// Relies on: the unique index of runs.id (end); runs_delayed_gated and runs_delayed (promote); the unique index of
// workers.id and notices_worker; runs_ready (claim). Rows that others are about to take are
// passed; who locks one that it does not take says that there is more, and comes again.
/** A worker's turn. The plan is kept from the first calls on, when there may be no run yet, and must be right for millions of them. */
const turn = `create function rota.plain_turn(
    worker_id text, at bigint, ids text[], started bigint[], ended bigint[], results text[],
    wanted text[], slots bigint, ahead bigint, slack bigint
  ) returns json language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $body$
  #variable_conflict use_variable
  declare
    stored json;
    me record;
    told json;
    claims json;
    picked bigint[];
    is_more boolean := false;
  begin
    if cardinality(ids) > 0 then
      with ends as (
        update rota.runs set state = 4, started_at = given.started_at, finished_at = given.finished_at,
          result = given.result, reason = null
        from unnest(ids, started, ended, results) given (id, started_at, finished_at, result)
        where runs.id = given.id and runs.state + 0 = 3 and runs.attempt = 1 and runs.follow is null
          and runs.gates is null
        returning runs.id
      )
      select json_agg(ends.id) into stored from ends;
    end if;
    if exists (select 1 from rota.runs where state = 0 and run_at <= at) then
      if exists (select 1 from rota.runs where state = 0 and run_at <= at and gates is not null) then
        raise exception 'runs wait for their gates' using errcode = 'RT001';
      end if;
      update rota.runs set state = 1 where seq = any(array(
        select seq from rota.runs where state = 0 and run_at <= at and gates is null
        order by run_at, seq limit 1000 for update skip locked
      ));
    end if;
    select key, phase, lease_until >= at and wanted is not null as may_claim,
      exists (select 1 from rota.notices where worker = key) as is_told
    into me from rota.workers where id = worker_id;
    if me.is_told then
      with gone as (delete from rota.notices where worker = me.key returning id, run, attempt, kind)
      select json_agg(json_build_object('run', run, 'attempt', attempt, 'kind', kind) order by id) into told from gone;
    end if;
    if me.phase = 0 and me.may_claim and ahead = 0 and cardinality(wanted) = 1 then
      picked := array(
        select seq from rota.runs where state = 1 and job = wanted[1]
        order by priority desc, run_at, seq limit slots + 1 for update skip locked
      );
      is_more := cardinality(picked) > slots;
      if cardinality(picked) > 0 and slots > 0 then
        with taken as (
          update rota.runs
          set state = 3, attempt = attempt + 1, worker = me.key, claimed_at = at, started_at = null
          where seq = any(picked[1:slots])
          returning seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition, payload,
            gates is null and follow is null as is_plain
        )
        select json_agg(taken order by priority desc, run_at, seq) into claims from taken;
      end if;
    elsif me.phase = 0 and me.may_claim then
      with offered as materialized (
        select each.* from unnest(wanted) job_name cross join lateral (
          select seq, priority, run_at, gates is null and crashes = 0 as is_plain from rota.runs
          where state = 1 and job = job_name
          order by priority desc, run_at, seq limit slots + ahead + slack for update skip locked
        ) each
      ), placed as (
        select *, row_number() over (order by priority desc, run_at, seq) as place from offered
      ), counted as (
        select *, count(*) filter (where place > slots and is_plain) over (order by place) as nth from placed
      ), taken as (
        update rota.runs set state = 3, attempt = runs.attempt + 1, worker = me.key, claimed_at = at,
          started_at = null
        from counted where runs.seq = counted.seq and (place <= slots or is_plain and nth <= ahead)
        returning place, runs.id, runs.job, runs.trigger, runs.attempt, runs.failures, runs.crashes, runs.due_at,
          runs.partition, runs.payload, runs.gates is null and runs.follow is null as is_plain
      )
      select json_agg(taken order by place), (select count(*) from offered) > count(*) into claims, is_more from taken;
    end if;
    return json_build_object('stored', stored, 'phase', me.phase, 'told', told, 'claims', claims, 'more', is_more);
  end $body$`

/** The functions of the usual transaction. */
export const plainFunctions: readonly string[] = [begin, turn]
