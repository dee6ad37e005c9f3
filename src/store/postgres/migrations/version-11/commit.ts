/*
 * The common transaction as one function call, which commits on its own: one round trip to the server. If something in it is
 * uncommon, the function raises an error of its own, and the process repeats the work with the general transaction
 * (commit-loop.ts), which can do everything.
 *
 * Runs with a slot and runs of a limited queue are prefetched too, as many as the worker asks for
 * (docs/decisions/0059-prefetch-of-limited-runs.md). A run that waits for a slot is claimed by the turn that frees the slot,
 * without becoming ready first (docs/decisions/0089-claimed-where-it-waits.md). If "passes_on" is true, the turn does so
 * without the lock of the slot or queue, and fails if it would change a count (commit/passing-on.ts).
 */
// The plan is cached from the first calls on, when the table may be empty, and must fit millions of runs: hence the settings.
//
// A small turn must be cheap as well: to start a query, or to open the indexes of runs for an update, costs more than a row.
// So the function skips each statement that a turn does not need, and does the common cases of a job limit and of a queue
// limit (all runs at one slot, all of one queue) without joins. An assignment without a query needs no executor: that is
// why locks are taken by assignments (docs/decisions/0090-small-turns.md).
//
// Relies on: primary keys of meta and fences; the unique index of workers.id and notices_worker; the unique index of runs.id
// (record); runs_delayed_gated and runs_delayed (promote); runs_ready (claim); the primary key of queues.
//
// A run is ended at the row position (ctid) where its claim was written. If another transaction has moved or removed that
// row, the end is uncommon. If a worker wants several jobs, each contributes its share of the prefetch and not all of its
// ready runs, so that few rows are locked for nothing. Rows that other transactions have locked are skipped. The answer
// "more" is true if the function locked a row that it did not claim, or claimed less than was wanted while runs are left,
// unless finding that out would mean scanning all claimed entries.
//
// Every transaction takes its locks in this order: the schema, slots, logs, waiting runs, queues by name, the row of the store.
/** The common transaction. */
export const commitWork = `create function rota.commit_work(
    of_writer text, known_fence bigint, jobs_known bigint, limits_known bigint, highest bigint, is_lasting boolean,
    new_ids text[], new_jobs text[], new_priorities bigint[], new_run_at bigint[], new_due_at bigint[],
    new_origins smallint[], new_payloads text[], new_at bigint[], new_triggers text[], new_versions integer[],
    new_partitions text[], new_gates text[], new_follows smallint[], new_keys text[], new_until bigint[], new_labels text[],
    log_ids text[], log_attempts integer[], log_at bigint[], log_levels text[], log_texts text[], log_sizes bigint[],
    slot_keys text[], worker_id text, at bigint, heard bigint,
    ids text[], places tid[], started bigint[], ended bigint[], results text[], end_jobs text[], end_gates text[],
    queue_names text[], queue_limits bigint[], queue_left bigint[],
    wanted text[], wanted_queues text[], from_priorities bigint[], from_run_at bigint[], from_seqs bigint[],
    slots bigint, ahead bigint, limited_ahead bigint, slack bigint,
    passes_on boolean, job_limit bigint, next_priority bigint, next_from bigint, next_seq bigint
  ) returns json language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set lock_timeout = '6500ms' as $body$
  #variable_conflict use_variable
  declare
    durability text;
    is_done boolean;
    jobs_now bigint;
    limits_now bigint;
    highest_now bigint;
    fence_now bigint;
    worker_key bigint;
    worker_phase smallint;
    may_claim boolean;
    is_told boolean;
    changes bigint;
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
    walked bigint;
    next_passed bigint;
    next_first json;
    at_place integer;
    firsts json;
    closed text[];
    next_at bigint;
    refused_at bigint[];
    refused_by text[];
    waits text[];
    taken_seqs bigint[];
    let_in bigint[] := '{}';
    next_in bigint[] := '{}';
    next_places tid[] := '{}';
    next_jobs text[];
    next_priorities bigint[];
    next_run_at bigint[];
    next_kinds integer[];
    is_one_slot boolean;
    is_next_only boolean := false;
    all_wanted text[] := wanted;
    all_queues text[] := wanted_queues;
    priorities bigint[];
    run_ats bigint[];
    seqs bigint[];
    queue_rooms bigint[] := '{}';
    queues_of text[];
    locked text[] := '{}';
    running_names text[];
    running_counts bigint[];
    is_one_queue boolean := false;
    is_limited boolean := cardinality(array_remove(wanted_queues, null)) > 0;
    is_news boolean := false;
    is_filled boolean := true;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'the isolation level is not read committed' using errcode = 'RT003';
    end if;
    durability := case when not is_lasting then set_config('synchronous_commit', 'off', true) end;
    is_done := pg_advisory_xact_lock_shared(rota_lock_key) is null;
    select meta.jobs_revision, meta.limits_revision, meta.highest_at, fences.fence, workers.key, workers.phase,
      workers.lease_until >= at and workers.is_draining = 0 and wanted is not null,
      exists (select 1 from rota.notices where notices.worker = workers.key)
    into strict jobs_now, limits_now, highest_now, fence_now, worker_key, worker_phase, may_claim, is_told
    from rota.meta left join rota.fences on fences.writer = of_writer left join rota.workers on workers.id = worker_id
    where meta.id = 1;
    if fence_now > known_fence then
      raise exception 'another call has taken the place of this one' using errcode = 'RT003';
    end if;
    if jobs_now <> jobs_known or limits_now <> limits_known then
      raise exception 'the definitions have changed' using errcode = 'RT002';
    end if;
    -- Before the locks of the slots: a transaction that holds one never waits for the row of a running run.
    if cardinality(ids) > 0 then
      update rota.runs set state = 4, started_at = given.started_at, finished_at = given.finished_at,
        result = given.result, reason = null
      from unnest(ids, places, started, ended, results, end_gates) given (id, place, started_at, finished_at, result, gates)
      where runs.ctid = given.place and runs.id = given.id and runs.state + 0 = 3 and runs.attempt = 1
        and runs.follow is null and runs.gates is not distinct from given.gates;
      get diagnostics changes = row_count;
      if changes <> cardinality(ids) then
        raise exception 'some of the runs have changed since they were claimed' using errcode = 'RT003';
      end if;
    end if;
    if worker_id is not null then
      select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    end if;
    if next_at <= at then
      slot_keys := slot_keys || array(
        select slot ->> 0 from (
          select gates from rota.runs where state = 0 and run_at <= at and gates is not null
          order by run_at, seq limit 1000
        ) due cross join lateral json_array_elements(due.gates::json) slot
      );
    end if;
    if cardinality(slot_keys) > 0 then
      is_done := rota.lock_slots(slot_keys) is null;
    end if;
    if cardinality(log_ids) > 0 then
      is_done := rota.append_log(log_ids, log_attempts, log_at, log_levels, log_texts, log_sizes) is null;
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
      if highest > highest_now then
        update rota.meta set highest_at = highest where id = 1 and highest_at < highest;
      end if;
      return json_build_object('at', extract(epoch from clock_timestamp()) * 1000, 'refusedAt', refused_at,
        'refusedBy', refused_by);
    end if;
    if cardinality(end_gates) > 0 then
      if array_position(end_gates, null) is not null then
        select array_agg(given.job order by given.n), array_agg(given.gates order by given.n) into end_jobs, end_gates
        from unnest(end_jobs, end_gates) with ordinality given (job, gates, n) where given.gates is not null;
      end if;
      if passes_on then
        select * into next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds, next_passed
        from rota.pick_next(end_jobs[1], end_gates[1], cardinality(end_gates), next_priority, next_from, next_seq);
        if cardinality(next_in) is distinct from cardinality(end_gates) or job_limit is distinct from (
          select admitted from rota.gates where key = end_gates[1]::json -> 0 ->> 0
        ) then
          raise exception 'not every run that ended is followed by one that waits' using errcode = 'RT004';
        end if;
        is_one_slot := true;
        at_place := array_position(next_priorities, next_priorities[cardinality(next_priorities)]);
        next_first := json_build_array(next_priorities[at_place], next_run_at[at_place], next_in[at_place]);
      else
        select * into let_in, next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds, is_one_slot
        from rota.pass_slots_on(end_jobs, end_gates);
      end if;
      is_filled := cardinality(next_in) >= cardinality(end_gates);
    end if;
    if cardinality(new_ids) > 0 then
      select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    end if;
    if next_at <= at then
      let_in := let_in || rota.promote_due(at, slot_keys);
      select run_at into next_at from rota.runs where state = 0 order by run_at limit 1;
    end if;
    if is_told then
      delete from rota.notices where worker = worker_key and id <= heard;
      select json_agg(json_build_object('id', id, 'run', run, 'attempt', attempt, 'kind', kind) order by id) into told
      from rota.notices where worker = worker_key;
    end if;
    -- A queue of which nothing ended and nothing is ready needs no lock: there is nothing to decide.
    for i in 1 .. cardinality(queue_names) loop
      if passes_on and queue_left[i] > 0 then
        if not exists (select 1 from rota.queues where name = queue_names[i] and running = queue_limits[i]) then
          raise exception 'the queue is not full' using errcode = 'RT004';
        end if;
      elsif queue_left[i] > 0 or (worker_phase = 0 and may_claim and exists (
        select 1 from unnest(wanted, wanted_queues) want (job, queue)
        where want.queue = queue_names[i] and exists (select 1 from rota.runs where state = 1 and runs.job = want.job)
      )) then
        locked := locked || queue_names[i];
      end if;
    end loop;
    if cardinality(locked) > 0 then
      select * into running_names, running_counts from rota.lock_queues(locked, passes_on);
    end if;
    for i in 1 .. cardinality(queue_names) loop
      queue_rooms[i] := case when passes_on and queue_left[i] > 0 then queue_left[i] when queue_names[i] = any(locked) then
        queue_limits[i] - coalesce(running_counts[array_position(running_names, queue_names[i])], 0) + queue_left[i]
      else 0 end;
    end loop;
    if worker_phase = 0 and may_claim then
      is_full := cardinality(array_remove(from_priorities, null)) = 0;
      if is_full and cardinality(wanted) >= 8 then
        with_ready := rota.jobs_with_ready(wanted);
        if is_limited then
          wanted_queues := array(
            select wanted_queues[array_position(wanted, job)] from unnest(with_ready) with ordinality given (job, n) order by n
          );
        end if;
        wanted := with_ready;
        from_priorities := null;
        from_run_at := null;
        from_seqs := null;
      end if;
      if is_limited and not 0 < all(queue_rooms) then
        select array_agg(given.job order by n), array_agg(given.queue order by n), array_agg(given.priority order by n),
          array_agg(given.run_at order by n), array_agg(given.seq order by n)
        into wanted, wanted_queues, from_priorities, from_run_at, from_seqs
        from unnest(wanted, wanted_queues, from_priorities, from_run_at, from_seqs) with ordinality
          given (job, queue, priority, run_at, seq, n)
        where given.queue is null or queue_rooms[array_position(queue_names, given.queue)] > 0;
      end if;
      most := slots + slack + least(ahead, 64 + 2 * ahead / greatest(1, cardinality(wanted)));
      -- Each candidate is locked, so no more are read than the queue has room for.
      if cardinality(queue_names) = 1 and queue_names[1] = all(wanted_queues) then
        most := least(most, queue_rooms[1]);
      end if;
      passed := pg_stat_get_xact_tuples_returned(ready_index);
      walked := pg_stat_get_xact_blocks_fetched(ready_index);
      if is_full or from_priorities is null then
        select coalesce(array_agg(place), '{}'), array_agg(kind), array_agg(queue), array_agg(priority), array_agg(run_at),
          array_agg(seq)
        into picked, kinds, queues_of, priorities, run_ats, seqs from (
          select found.*, want.queue from unnest(wanted, wanted_queues) want (job, queue)
          cross join lateral (
            select ctid as place, priority, run_at, seq,
              case when crashes > 0 then 2 when gates is null and want.queue is null then 0 else 1 end as kind
            from rota.runs where state = 1 and job = want.job
            order by priority desc, run_at, seq limit most for update skip locked
          ) found order by priority desc, run_at, seq
        ) sorted;
      else
        select * into picked, kinds, queues_of, priorities, run_ats, seqs
        from rota.pick_from(wanted, wanted_queues, from_priorities, from_run_at, from_seqs, most);
      end if;
      changes := cardinality(picked);
      passed := pg_stat_get_xact_tuples_returned(ready_index) - passed - changes
        + 8 * greatest(0, pg_stat_get_xact_blocks_fetched(ready_index) - walked - 4 * cardinality(wanted));
      if passed >= 500 then
        select json_agg(first) into firsts from (
          select distinct on (job) job, priority, run_at, seq from rota.runs where ctid = any(picked)
          order by job, priority desc, run_at, seq
        ) first;
        closed := array(select q.name from unnest(queue_names, queue_rooms) q (name, room) where q.room <= 0);
      end if;
      is_more := changes >= most;
      is_next_only := is_one_slot and changes = 0 and not is_limited
        and next_jobs[1] = all(next_jobs) and next_jobs[1] = any(all_wanted);
      if is_next_only then
        picked := next_places;
        kinds := next_kinds;
        changes := cardinality(picked);
      elsif cardinality(next_in) > 0 then
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
      is_one_queue := cardinality(queue_names) = 1 and queues_of[1] = all(queues_of);
      if is_one_queue then
        picked := picked[1:queue_rooms[1]];
        kinds := kinds[1:queue_rooms[1]];
      elsif is_limited and changes > 0 then
        select coalesce(array_agg(place order by n), '{}'), array_agg(kind order by n) into picked, kinds from (
          select *, row_number() over (partition by queue order by n) as nth
          from unnest(picked, kinds, queues_of) with ordinality given (place, kind, queue, n)
        ) ranked where queue is null or nth <= queue_rooms[array_position(queue_names, queue)];
      end if;
      changes := cardinality(picked);
      -- Plain runs may be prefetched, limited ones up to a number, runs that lost an attempt not at all.
      if changes > slots and 1 = all(kinds[slots + 1:]) then
        picked := picked[1:slots + least(ahead, limited_ahead)];
        is_more := is_more or cardinality(picked) < changes;
      elsif changes > slots + ahead or (changes > slots and 0 <> any(kinds[slots + 1:])) then
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
          set state = 3, attempt = attempt + 1, worker = worker_key, claimed_at = at, started_at = null, waits_for = null
          where ctid = any(picked)
          returning ctid as place, seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition,
            payload, gates, follow is not null as follows
        )
        select json_build_array(array_agg(place), array_agg(seq), array_agg(priority), array_agg(run_at), array_agg(id),
          array_agg(job), array_agg(trigger), array_agg(attempt), array_agg(failures), array_agg(crashes),
          array_agg(due_at), array_agg(partition), array_agg(payload), array_agg(gates),
          array_agg(follows)), array_agg(seq) into claims, taken_seqs from taken;
      end if;
      if is_one_queue then
        queue_rooms[1] := queue_rooms[1] - coalesce(cardinality(taken_seqs), 0);
      elsif is_limited and cardinality(picked) > 0 then
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
    -- A queue that has room again after ends is news for other workers.
    for i in 1 .. cardinality(queue_names) loop
      if queue_names[i] = any(locked)
        and running_counts[array_position(running_names, queue_names[i])] <> queue_limits[i] - queue_rooms[i] then
        update rota.queues set running = queue_limits[i] - queue_rooms[i] where name = queue_names[i];
      end if;
      is_news := is_news or (queue_left[i] > 0 and queue_rooms[i] > 0);
      is_filled := is_filled and (queue_left[i] = 0 or queue_rooms[i] = 0);
    end loop;
    if passes_on and not is_filled then
      raise exception 'not every run of the queue that ended is followed by another one' using errcode = 'RT004';
    end if;
    if is_next_only then
      next_in := next_in[cardinality(picked) + 1:];
    elsif cardinality(next_in) > 0 then
      next_in := array(select unnest(next_in) except select unnest(taken_seqs));
    end if;
    if cardinality(next_in) > 0 then
      update rota.runs set state = 1, waits_for = null where seq = any(next_in);
      let_in := let_in || next_in;
    end if;
    if cardinality(let_in) > 0 and not is_news then
      is_news := exists (select 1 from rota.runs where seq = any(let_in) and state = 1);
    end if;
    -- A turn that found nothing writes nothing, so that other loops do not look again; heartbeats write the time as well.
    if highest > highest_now and (pg_current_xact_id_if_assigned() is not null or highest > highest_now + 60000) then
      update rota.meta set highest_at = highest where id = 1 and highest_at < highest;
    end if;
    return json_build_object('at', extract(epoch from clock_timestamp()) * 1000, 'phase', worker_phase, 'told', told,
      'claims', claims, 'more', is_more, 'nextAt', next_at, 'passed', passed, 'firsts', firsts, 'refusedAt', refused_at,
      'refusedBy', refused_by, 'news', is_news, 'filled', is_filled,
      'closed', closed, 'nextPassed', next_passed, 'nextFirst', next_first);
  end $body$`
