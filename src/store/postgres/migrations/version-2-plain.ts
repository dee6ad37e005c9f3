/*
 * The usual transaction as one statement, which commits by itself: one journey to the server and back. What is not usual
 * ends in an error of its own, and is made again in the other way, which can do everything.
 */

// The plan is kept from the first calls on, when there may be no run yet, and must be right for millions of them.
//
// Relies on: primary key of fences; the unique index of runs.id (record); runs_delayed_gated and runs_delayed (promote);
// the unique index of workers.id and notices_worker; runs_ready (claim).
//
// A run is ended at the place where its claim was written: whatever has moved it since, or taken it away, is no usual
// end. Of several jobs each gives its share of what is claimed ahead and not all that there is, so that few rows are
// locked in vain. Rows that others are about to take are passed. Who locks one that it does not take says that there is
// more, and so does who got less than it wanted while something is left; unless that look would have to go through all
// that was taken.
/** The usual transaction. */
export const commitPlain = `create function rota.commit_plain(
    of_writer text, known_fence bigint, jobs_known bigint, limits_known bigint, highest bigint, is_lasting boolean,
    new_ids text[], new_jobs text[], new_priorities bigint[], new_run_at bigint[], new_due_at bigint[],
    new_origins smallint[], new_payloads text[], new_at bigint[],
    worker_id text, at bigint, heard bigint,
    ids text[], places tid[], started bigint[], ended bigint[], results text[],
    wanted text[], from_priorities bigint[], from_run_at bigint[], slots bigint, ahead bigint, slack bigint
  ) returns json language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set lock_timeout = '6500ms' as $body$
  #variable_conflict use_variable
  declare
    known rota.meta;
    changes bigint;
    me record;
    told json;
    claims json;
    picked tid[];
    are_plain boolean[];
    is_more boolean := false;
    ready_index constant oid := format('%I.runs_ready', 'rota'::name)::regclass;
    is_full boolean;
    with_ready text[];
    most bigint;
    passed bigint;
    firsts json;
    next_at bigint;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'this session usually sees nothing newer than its beginning' using errcode = 'RT003';
    end if;
    if not is_lasting then
      perform set_config('synchronous_commit', 'off', true);
    end if;
    perform pg_advisory_xact_lock_shared(rota_lock_key);
    if (select fence from rota.fences where writer = of_writer) > known_fence then
      raise exception 'another call has taken the place of this one' using errcode = 'RT003';
    end if;
    select * into strict known from rota.meta where id = 1;
    if known.jobs_revision <> jobs_known or known.limits_revision <> limits_known then
      raise exception 'the definitions have changed' using errcode = 'RT002';
    end if;
    if highest > known.highest_at then
      update rota.meta set highest_at = highest where id = 1 and highest_at < highest;
    end if;
    if cardinality(new_ids) > 0 then
      insert into rota.runs (id, job, state, priority, run_at, due_at, created_at, origin, payload)
      select given.id, given.job, case when given.run_at <= given.at then 1 else 0 end, given.priority,
        given.run_at, given.due_at, given.at, given.origin, given.payload
      from unnest(new_ids, new_jobs, new_priorities, new_run_at, new_due_at, new_origins, new_payloads, new_at)
        given (id, job, priority, run_at, due_at, origin, payload, at);
    end if;
    if worker_id is null then
      return json_build_object('at', extract(epoch from clock_timestamp()) * 1000);
    end if;
    select key, phase, lease_until >= at and is_draining = 0 and wanted is not null as may_claim,
      exists (select 1 from rota.notices where worker = key) as is_told
    into me from rota.workers where id = worker_id;
    if cardinality(ids) > 0 then
      update rota.runs set state = 4, started_at = given.started_at, finished_at = given.finished_at,
        result = given.result, reason = null
      from unnest(ids, places, started, ended, results) given (id, place, started_at, finished_at, result)
      where runs.ctid = given.place and runs.id = given.id and runs.state + 0 = 3 and runs.attempt = 1
        and runs.follow is null and runs.gates is null;
      get diagnostics changes = row_count;
      if changes <> cardinality(ids) then
        raise exception 'some of the ends are no usual ones' using errcode = 'RT003';
      end if;
    end if;
    select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    if next_at <= at then
      if exists (select 1 from rota.runs where state = 0 and run_at <= at and gates is not null) then
        raise exception 'runs wait for their gates' using errcode = 'RT001';
      end if;
      update rota.runs set state = 1 where ctid = any(array(
        select ctid from rota.runs where state = 0 and run_at <= at and gates is null
        order by run_at, seq limit 1000 for update skip locked
      ));
      select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    end if;
    if me.is_told then
      delete from rota.notices where worker = me.key and id <= heard;
      select json_agg(json_build_object('id', id, 'run', run, 'attempt', attempt, 'kind', kind) order by id) into told
      from rota.notices where worker = me.key;
    end if;
    if me.phase = 0 and me.may_claim then
      is_full := cardinality(array_remove(from_priorities, null)) = 0;
      if is_full and cardinality(wanted) >= 8 then
        with recursive stocked (job) as (
          (select job from rota.runs where state = 1 order by job limit 1)
          union all
          select (select runs.job from rota.runs where state = 1 and runs.job > stocked.job order by runs.job limit 1)
          from stocked where stocked.job is not null
        )
        select array_agg(job) into with_ready from stocked where job = any(wanted);
        wanted := with_ready;
        from_priorities := null;
        from_run_at := null;
      end if;
      most := slots + slack + least(ahead, 64 + 2 * ahead / greatest(1, cardinality(wanted)));
      passed := pg_stat_get_xact_tuples_returned(ready_index);
      select coalesce(array_agg(place), '{}'), array_agg(is_plain) into picked, are_plain from (
        select found.* from unnest(wanted, from_priorities, from_run_at) want (job, from_priority, from_run_at)
        cross join lateral (
          select * from (
    select ctid as place, priority, run_at, seq, gates is null and crashes = 0 as is_plain from rota.runs
    where state = 1 and job = want.job and want.from_priority is null
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, gates is null and crashes = 0 as is_plain from rota.runs
    where state = 1 and job = want.job and priority > want.from_priority
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, gates is null and crashes = 0 as is_plain from rota.runs
    where state = 1 and job = want.job and priority = want.from_priority and run_at >= want.from_run_at
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, gates is null and crashes = 0 as is_plain from rota.runs
    where state = 1 and job = want.job and priority < want.from_priority
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
        ) found order by priority desc, run_at, seq
      ) sorted;
      changes := cardinality(picked);
      passed := pg_stat_get_xact_tuples_returned(ready_index) - passed - changes;
      if passed >= 500 then
        select json_agg(first) into firsts from (
          select distinct on (job) job, priority, run_at from rota.runs where ctid = any(picked)
          order by job, priority desc, run_at, seq
        ) first;
      end if;
      is_more := changes >= most;
      if changes > slots + ahead or (changes > slots and false = any(are_plain[slots + 1:])) then
        is_more := true;
        picked := array(
          select place from (
            select place, is_plain, n, count(*) filter (where is_plain and n > slots) over (order by n) as nth
            from unnest(picked, are_plain) with ordinality given (place, is_plain, n)
          ) numbered where n <= slots or (is_plain and nth <= ahead) order by n
        );
      end if;
      if cardinality(picked) > 0 then
        with taken as (
          update rota.runs
          set state = 3, attempt = attempt + 1, worker = me.key, claimed_at = at, started_at = null
          where ctid = any(picked)
          returning ctid as place, seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition,
            payload, gates is null and follow is null as is_plain
        )
        select json_build_array(array_agg(place), array_agg(seq), array_agg(priority), array_agg(run_at), array_agg(id),
          array_agg(job), array_agg(trigger), array_agg(attempt), array_agg(failures), array_agg(crashes),
          array_agg(due_at), array_agg(partition), array_agg(payload), array_agg(is_plain)) into claims from taken;
      end if;
      if is_full and not is_more and changes < slots and passed < 500 then
        is_more := exists (
          select 1 from unnest(wanted) want (job) where exists (
            select 1 from rota.runs where state = 1 and runs.job = want.job
          )
        );
      end if;
    end if;
    return json_build_object('at', extract(epoch from clock_timestamp()) * 1000, 'phase', me.phase, 'told', told,
      'claims', claims, 'more', is_more, 'nextAt', next_at, 'passed', passed, 'firsts', firsts);
  end $body$`
