/*
 * The usual transaction as one statement, which commits by itself: one journey to the server and back. What is not usual
 * ends in an error of its own, and is made again in the other way, which can do everything.
 *
 * Runs with a slot and runs of a limited queue are claimed ahead of their turn as well, as many as the worker says
 * (docs/decisions/0059-prefetch-of-limited-runs.md). A run that waits at a slot is claimed by the turn that frees the slot,
 * without becoming ready first (docs/decisions/0089-claimed-where-it-waits.md).
 */

// The plan is kept from the first calls on, when there may be no run yet, and must be right for millions of them.
//
// Relies on: primary key of fences; the unique index of runs.id (record); runs_delayed_gated and runs_delayed (promote);
// the unique index of workers.id and notices_worker; runs_ready (claim); the primary key of queues.
//
// A run is ended at the place where its claim was written: whatever has moved it since, or taken it away, is no usual
// end. Of several jobs each gives its share of what is claimed ahead and not all that there is, so that few rows are
// locked in vain. Rows that others are about to take are passed. Who locks one that it does not take says that there is
// more, and so does who got less than it wanted while something is left; unless that look would have to go through all
// that was taken.
//
// Locks are taken in this order, by everybody: the schema, slots, logs, queues by name, the one row of the store.
/** The usual transaction. */
export const commitWork = `create function rota.commit_work(
    of_writer text, known_fence bigint, jobs_known bigint, limits_known bigint, highest bigint, is_lasting boolean,
    new_ids text[], new_jobs text[], new_priorities bigint[], new_run_at bigint[], new_due_at bigint[],
    new_origins smallint[], new_payloads text[], new_at bigint[], new_triggers text[], new_versions integer[],
    new_partitions text[], new_gates text[], new_follows smallint[], new_keys text[], new_until bigint[], new_labels text[],
    log_ids text[], log_attempts integer[], log_at bigint[], log_levels text[], log_texts text[], log_sizes bigint[],
    slot_keys text[],
    worker_id text, at bigint, heard bigint,
    ids text[], places tid[], started bigint[], ended bigint[], results text[], end_jobs text[], end_gates text[],
    queue_names text[], queue_limits bigint[], queue_left bigint[],
    wanted text[], wanted_queues text[], from_priorities bigint[], from_run_at bigint[], slots bigint, ahead bigint, limited_ahead bigint,
    slack bigint
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
    kinds integer[];
    is_more boolean := false;
    ready_index constant oid := format('%I.runs_ready', 'rota'::name)::regclass;
    is_full boolean;
    with_ready text[];
    most bigint;
    passed bigint;
    firsts json;
    next_at bigint;
    refused_at bigint[];
    refused_by text[];
    waits text[];
    due_seqs bigint[];
    taken_seqs bigint[];
    due_jobs text[];
    due_gates text[];
    let_in bigint[] := '{}';
    next_in bigint[] := '{}';
    next_places tid[] := '{}';
    next_jobs text[];
    next_priorities bigint[];
    next_run_at bigint[];
    next_kinds integer[];
    all_wanted text[] := wanted;
    all_queues text[] := wanted_queues;
    priorities bigint[];
    run_ats bigint[];
    seqs bigint[];
    queue_rooms bigint[];
    queues_of text[];
    locked text[];
    is_limited boolean := cardinality(array_remove(wanted_queues, null)) > 0;
    is_news boolean := false;
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
    -- Before the locks of the slots: whoever holds one of these never waits for the row of a running run.
    if cardinality(ids) > 0 then
      update rota.runs set state = 4, started_at = given.started_at, finished_at = given.finished_at,
        result = given.result, reason = null
      from unnest(ids, places, started, ended, results, end_gates) given (id, place, started_at, finished_at, result, gates)
      where runs.ctid = given.place and runs.id = given.id and runs.state + 0 = 3 and runs.attempt = 1
        and runs.follow is null and runs.gates is not distinct from given.gates;
      get diagnostics changes = row_count;
      if changes <> cardinality(ids) then
        raise exception 'some of the ends are no usual ones' using errcode = 'RT003';
      end if;
    end if;
    if worker_id is not null
      and exists (select 1 from rota.runs where state = 0 and run_at <= at and gates is not null) then
      slot_keys := slot_keys || array(
        select slot ->> 0 from (
          select gates from rota.runs where state = 0 and run_at <= at and gates is not null
          order by run_at, seq limit 1000
        ) due cross join lateral json_array_elements(due.gates::json) slot
      );
    end if;
    if cardinality(slot_keys) > 0 then
      perform rota.lock_slots(slot_keys);
    end if;
    if cardinality(log_ids) > 0 then
      perform rota.append_log(log_ids, log_attempts, log_at, log_levels, log_texts, log_sizes);
    end if;
    if cardinality(new_ids) > 0 then
      if cardinality(new_keys) > 0 then
        select * into refused_at, refused_by from rota.refused_keys(new_ids, new_jobs, new_keys, new_at);
      end if;
      if cardinality(new_gates) > 0 then
        waits := rota.place_runs(new_jobs, array(
          select case when given.run_at <= given.at and not given.n = any(coalesce(refused_at, '{}')) then given.gates end
          from unnest(new_gates, new_run_at, new_at) with ordinality given (gates, run_at, at, n) order by given.n
        ));
      end if;
      insert into rota.runs (id, job, state, priority, run_at, due_at, created_at, origin, payload, trigger, version,
        partition, gates, waits_for, follow, unique_key, unique_until, labels)
      select given.id, given.job, case when given.run_at > given.at then 0 when given.waits is null then 1 else 2 end,
        given.priority, given.run_at, given.due_at, given.at, given.origin, given.payload, given.trigger, given.version,
        given.partition, given.gates, given.waits, given.follow, given.key, given.until, given.labels
      from unnest(new_ids, new_jobs, new_priorities, new_run_at, new_due_at, new_origins, new_payloads, new_at,
          new_triggers, new_versions, new_partitions, new_gates, waits, new_follows, new_keys, new_until, new_labels)
        with ordinality given (id, job, priority, run_at, due_at, origin, payload, at, trigger, version, partition, gates,
          waits, follow, key, until, labels, n)
      where refused_at is null or not given.n = any(refused_at);
    end if;
    if worker_id is null then
      if highest > known.highest_at then
        update rota.meta set highest_at = highest where id = 1 and highest_at < highest;
      end if;
      return json_build_object('at', extract(epoch from clock_timestamp()) * 1000, 'refusedAt', refused_at,
        'refusedBy', refused_by);
    end if;
    select key, phase, lease_until >= at and is_draining = 0 and wanted is not null as may_claim,
      exists (select 1 from rota.notices where worker = key) as is_told
    into me from rota.workers where id = worker_id;
    if cardinality(end_gates) > 0 then
      select array_agg(given.job order by given.n), array_agg(given.gates order by given.n) into due_jobs, due_gates
      from unnest(end_jobs, end_gates) with ordinality given (job, gates, n) where given.gates is not null;
      select * into let_in, next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds
      from rota.pass_slots_on(due_jobs, due_gates);
    end if;
    select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    if next_at <= at then
      select array_agg(due.seq), array_agg(due.job), array_agg(due.gates) into due_seqs, due_jobs, due_gates from (
        select seq, job, gates from rota.runs where state = 0 and run_at <= at and gates is not null
        order by run_at, seq limit 1000
      ) due where rota.keys_of(due.gates) <@ slot_keys;
      if due_seqs is not null then
        waits := rota.place_runs(due_jobs, due_gates);
        update rota.runs set state = case when given.waits is null then 1 else 2 end, waits_for = given.waits
        from unnest(due_seqs, waits) given (seq, waits) where runs.seq = given.seq;
        let_in := let_in || due_seqs;
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
    if cardinality(queue_names) > 0 then
      -- A queue of which nothing is ready need not be locked: there is nothing to take from it.
      locked := array(
        select given.name from unnest(queue_names, queue_left) given (name, n)
        where given.n > 0 or (me.phase = 0 and me.may_claim and exists (
          select 1 from unnest(wanted, wanted_queues) want (job, queue)
          where want.queue = given.name and exists (select 1 from rota.runs where state = 1 and runs.job = want.job)
        ))
      );
      perform 1 from rota.queues where name = any(locked) order by name for update;
      queue_rooms := array(
        select case when given.name = any(locked) then given.most - coalesce(queues.running, 0) + given.n else 0 end
        from unnest(queue_names, queue_limits, queue_left) with ordinality given (name, most, n, place)
        left join rota.queues on queues.name = given.name order by given.place
      );
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
        if is_limited then
          wanted_queues := array(
            select wanted_queues[array_position(wanted, job)] from unnest(with_ready) with ordinality given (job, n) order by n
          );
        end if;
        wanted := with_ready;
        from_priorities := null;
        from_run_at := null;
      end if;
      if is_limited then
        select array_agg(given.job order by n), array_agg(given.queue order by n), array_agg(given.priority order by n),
          array_agg(given.run_at order by n)
        into wanted, wanted_queues, from_priorities, from_run_at
        from unnest(wanted, wanted_queues, from_priorities, from_run_at) with ordinality
          given (job, queue, priority, run_at, n)
        where given.queue is null or queue_rooms[array_position(queue_names, given.queue)] > 0;
      end if;
      most := slots + slack + least(ahead, 64 + 2 * ahead / greatest(1, cardinality(wanted)));
      passed := pg_stat_get_xact_tuples_returned(ready_index);
      select coalesce(array_agg(place), '{}'), array_agg(kind), array_agg(queue), array_agg(priority), array_agg(run_at),
        array_agg(seq)
      into picked, kinds, queues_of, priorities, run_ats, seqs from (
        select found.*, want.queue
        from unnest(wanted, wanted_queues, from_priorities, from_run_at) want (job, queue, from_priority, from_run_at)
        cross join lateral (
          select * from (
    select ctid as place, priority, run_at, seq, case when crashes > 0 then 2 when gates is null and want.queue is null then 0 else 1 end as kind from rota.runs
    where state = 1 and job = want.job and want.from_priority is null
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, case when crashes > 0 then 2 when gates is null and want.queue is null then 0 else 1 end as kind from rota.runs
    where state = 1 and job = want.job and priority > want.from_priority
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, case when crashes > 0 then 2 when gates is null and want.queue is null then 0 else 1 end as kind from rota.runs
    where state = 1 and job = want.job and priority = want.from_priority and run_at >= want.from_run_at
    order by priority desc, run_at, seq limit most for update skip locked
  ) found
          union all
          select * from (
    select ctid as place, priority, run_at, seq, case when crashes > 0 then 2 when gates is null and want.queue is null then 0 else 1 end as kind from rota.runs
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
      if cardinality(next_in) > 0 then
        select coalesce(array_agg(place), '{}'), array_agg(kind), array_agg(queue) into picked, kinds, queues_of from (
          select * from unnest(picked, kinds, queues_of, priorities, run_ats, seqs)
            ready (place, kind, queue, priority, run_at, seq)
          union all
          select next.place, next.kind, want.queue, next.priority, next.run_at, next.seq
          from unnest(next_places, next_kinds, next_jobs, next_priorities, next_run_at, next_in)
            next (place, kind, job, priority, run_at, seq)
          join unnest(all_wanted, all_queues) want (job, queue) on want.job = next.job
          order by priority desc, run_at, seq
        ) sorted;
        changes := cardinality(picked);
      end if;
      if is_limited and changes > 0 then
        select coalesce(array_agg(place order by n), '{}'), array_agg(kind order by n), array_agg(queue order by n)
        into picked, kinds, queues_of from (
          select *, row_number() over (partition by queue order by n) as nth
          from unnest(picked, kinds, queues_of) with ordinality given (place, kind, queue, n)
        ) ranked where queue is null or nth <= queue_rooms[array_position(queue_names, queue)];
        changes := cardinality(picked);
      end if;
      -- Plain runs may be claimed ahead, limited ones only so many, those that lost an attempt not at all.
      if changes > slots + ahead or (changes > slots and 0 <> any(kinds[slots + 1:])) then
        picked := array(
          select place from (
            select place, n, may_be, count(*) filter (where may_be and n > slots) over (order by n) as nth from (
              select place, n, kind = 0 or (
                  kind = 1 and count(*) filter (where kind = 1 and n > slots) over (order by n) <= limited_ahead
                ) as may_be
              from unnest(picked, kinds) with ordinality given (place, kind, n)
            ) judged
          ) numbered where n <= slots or (may_be and nth <= ahead) order by n
        );
        is_more := is_more or cardinality(picked) < changes;
      end if;
      if cardinality(picked) > 0 then
        with taken as (
          update rota.runs
          set state = 3, attempt = attempt + 1, worker = me.key, claimed_at = at, started_at = null, waits_for = null
          where ctid = any(picked)
          returning ctid as place, seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition,
            payload, gates, follow is not null as follows
        )
        select json_build_array(array_agg(place), array_agg(seq), array_agg(priority), array_agg(run_at), array_agg(id),
          array_agg(job), array_agg(trigger), array_agg(attempt), array_agg(failures), array_agg(crashes),
          array_agg(due_at), array_agg(partition), array_agg(payload), array_agg(gates),
          array_agg(follows)), array_agg(seq) into claims, taken_seqs from taken;
      end if;
      if is_limited and cardinality(picked) > 0 then
        with entered as materialized (
          select want.queue as name, count(*) as n from rota.runs
          join unnest(all_wanted, all_queues) want (job, queue) on want.job = runs.job
          where runs.seq = any(taken_seqs) and want.queue is not null group by want.queue
        )
        select array(
          select rooms.room - coalesce((select entered.n from entered where entered.name = rooms.name), 0)
          from unnest(queue_names, queue_rooms) with ordinality rooms (name, room, place) order by rooms.place
        ) into queue_rooms;
      end if;
      if is_limited and is_more or is_full and not is_more and changes < slots and passed < 500 then
        is_more := exists (
          select 1 from unnest(wanted, wanted_queues) want (job, queue)
          where (want.queue is null or queue_rooms[array_position(queue_names, want.queue)] > 0) and exists (
            select 1 from rota.runs where state = 1 and runs.job = want.job
          )
        );
      end if;
    end if;
    if cardinality(queue_names) > 0 then
      update rota.queues set running = given.most - given.room
      from unnest(queue_names, queue_limits, queue_rooms) given (name, most, room)
      where queues.name = given.name and given.name = any(locked) and queues.running <> given.most - given.room;
      is_news := exists (
        select 1 from unnest(queue_left, queue_rooms) given (n, room) where given.n > 0 and given.room > 0
      );
    end if;
    if cardinality(next_in) > 0 then
      next_in := array(select unnest(next_in) except select unnest(taken_seqs));
      update rota.runs set state = 1, waits_for = null where seq = any(next_in);
      let_in := let_in || next_in;
    end if;
    if cardinality(let_in) > 0 and not is_news then
      is_news := exists (select 1 from rota.runs where seq = any(let_in) and state = 1);
    end if;
    -- A look that found nothing writes nothing, so that nobody takes it for news; heartbeats write the time as well.
    if highest > known.highest_at and (pg_current_xact_id_if_assigned() is not null or highest > known.highest_at + 60000) then
      update rota.meta set highest_at = highest where id = 1 and highest_at < highest;
    end if;
    return json_build_object('at', extract(epoch from clock_timestamp()) * 1000, 'phase', me.phase, 'told', told,
      'claims', claims, 'more', is_more, 'nextAt', next_at, 'passed', passed, 'firsts', firsts, 'refusedAt', refused_at,
      'refusedBy', refused_by, 'news', is_news);
  end $body$`
