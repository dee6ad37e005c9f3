// Who follows the runs that leave their slots. All of these lock the rows of the waiting runs that they take, because a turn
// without the lock of a slot may take the same runs (commit/passing-on.ts). With the lock, they wait for rows that others
// have locked; without it, they skip them.

// Frees slots. The run that is next at a slot takes over the freed place, and the count of the slot is right when this
// function returns. "next_in" are these runs, still marked as waiting: the caller claims them or makes them ready. "let_in"
// are runs that are ready already.
//
// Relies on: the primary keys of jobs and gates, runs_blocked. Usually each waiting run has one slot, and slots do not
// depend on each other. Otherwise the ends are processed one by one, since their order decides which run is admitted. If
// all runs leave the same slot, as with a job limit, its next runs are read in their order without joins ("is_one").
/** Frees slots, and finds the next run at each. */
export const passSlotsToWaiting = `create function rota.pass_slots_to_waiting(
    of_jobs text[], of_gates text[], out let_in bigint[], out next_in bigint[], out next_places tid[], out next_jobs text[],
    out next_priorities bigint[], out next_run_at bigint[], out next_kinds integer[], out is_one boolean
  ) language plpgsql as $body$
  declare
    freed_keys text[];
    freed bigint[];
    limits bigint[];
    owns boolean[];
    same_gates text[];
    waiting_at text[];
    is_simple boolean;
    one_key text;
    one_limit bigint;
    inside bigint;
    fewer bigint;
  begin
    let_in := '{}';
    is_one := of_gates[1] = all(of_gates) and of_jobs[1] = all(of_jobs) and json_array_length(of_gates[1]::json) = 1;
    if is_one then
      one_key := of_gates[1]::json -> 0 ->> 0;
      one_limit := rota.slot_limit(of_jobs[1], one_key, (of_gates[1]::json -> 0 ->> 1)::bigint);
      select admitted into inside from rota.gates where key = one_key;
      select array_agg(seq), array_agg(place), array_agg(job), array_agg(priority), array_agg(run_at), array_agg(kind),
        coalesce(bool_and(found.gates = of_gates[1] and found.job = of_jobs[1]), true)
      into next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds, is_one
      from (
        select seq, ctid as place, job, priority, run_at, case when crashes > 0 then 2 else 1 end as kind, gates
        from rota.runs where state = 2 and waits_for = one_key
        order by priority desc, run_at, seq limit greatest(0, one_limit - inside + cardinality(of_gates))
        for update
      ) found;
    end if;
    if is_one and inside is not null then
      next_in := coalesce(next_in, '{}');
      next_places := coalesce(next_places, '{}');
      fewer := cardinality(of_gates) - cardinality(next_in);
      if inside <= fewer then
        delete from rota.gates where key = one_key;
      elsif fewer <> 0 then
        update rota.gates set admitted = inside - fewer where key = one_key;
      end if;
      return;
    end if;
    is_one := false;
    with defined as materialized (
      select name, coalesce((definition::json ->> 'concurrency')::bigint, 9007199254740991) as total,
        (definition::json ->> 'concurrencyPerKey')::bigint as per_key
      from rota.jobs where name = any(of_jobs)
    ), given as (
      select job, gates, count(*) as n from unnest(of_jobs, of_gates) each (job, gates) group by job, gates
    ), slots as (
      select slot ->> 0 as key, (slot ->> 1)::bigint as stored, given.n, given.gates, json_array_length(given.gates::json) = 1 as has_one, defined.total, defined.per_key,
        slot ->> 0 = 'job:' || given.job as is_total, starts_with(slot ->> 0, 'key:' || given.job || '=') as is_key
      from given cross join lateral json_array_elements(given.gates::json) slot
      left join defined on defined.name = given.job
    ), limited as (
      select key, n, gates, has_one, coalesce(case when is_total then total when is_key then per_key end, stored) as most,
        is_total or is_key as is_own
      from slots
    ), by_key as (
      select key, sum(n) as n, max(most) as most, bool_and(is_own) as is_own, min(most) = max(most) as is_even,
        max(gates) filter (where has_one) as gates
      from limited group by key
    )
    select array_agg(key), array_agg(n), array_agg(most), array_agg(is_own), array_agg(gates), bool_and(is_even)
    into freed_keys, freed, limits, owns, same_gates, is_simple from by_key;
    if is_simple then
      select bool_and(found.is_simple), array_agg(seq) filter (where seq is not null),
        array_agg(place) filter (where seq is not null), array_agg(job) filter (where seq is not null),
        array_agg(priority) filter (where seq is not null), array_agg(run_at) filter (where seq is not null),
        array_agg(kind) filter (where seq is not null), array_agg(key) filter (where seq is not null)
      into is_simple, next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds, waiting_at
      from (
        select given.key, blocked.*, gates.admitted is not null and (blocked.seq is null or blocked.has_one and (
            given.is_own or blocked.gates = given.gates or (blocked.gates::json -> 0 ->> 1)::bigint = given.most
          )) as is_simple
        from unnest(freed_keys, freed, limits, owns, same_gates) given (key, n, most, is_own, gates)
        left join rota.gates on gates.key = given.key
        left join lateral (
          select seq, ctid as place, job, priority, run_at, case when crashes > 0 then 2 else 1 end as kind, runs.gates,
            runs.gates = given.gates is true or json_array_length(runs.gates::json) = 1 as has_one
          from rota.runs where state = 2 and waits_for = given.key
          order by priority desc, run_at, seq limit greatest(0, given.most - coalesce(gates.admitted, 0) + given.n)
          for update
        ) blocked on true
      ) found;
    end if;
    next_in := coalesce(next_in, '{}');
    next_places := coalesce(next_places, '{}');
    if not is_simple then
      next_in := '{}';
      next_places := '{}';
      for i in 1 .. cardinality(of_gates) loop
        perform rota.give_back(rota.keys_of(of_gates[i]));
        let_in := let_in || rota.let_in(rota.keys_of(of_gates[i]));
      end loop;
      return;
    end if;
    with net as materialized (
      select key, sum(n) as less from (
        select * from unnest(freed_keys, freed) given (key, n) union all select taken.key, -1 from unnest(waiting_at) taken (key)
      ) changed group by key having sum(n) <> 0
    ), gone as (
      delete from rota.gates using net where gates.key = net.key and gates.admitted <= net.less
    )
    update rota.gates set admitted = gates.admitted - net.less from net
    where gates.key = net.key and gates.admitted > net.less;
  end $body$`

// Relies on: runs_blocked. The same as letInWaiting in concurrency-slots.ts. A run that waits may have slots besides the
// one that was freed: where their locks are not to be had at once, the transaction is made again as the only writer.
/** Admits the runs that wait at slots with room. */
export const letIn = `create or replace function rota.let_in(keys text[]) returns bigint[] language plpgsql as $body$
  declare
    todo text[] := array(select given.key from unnest(keys) with ordinality given (key, n) order by n desc);
    slot_key text;
    next record;
    own_limit bigint;
    waits text;
    other text;
    let_in bigint[] := '{}';
  begin
    while cardinality(todo) > 0 loop
      slot_key := todo[cardinality(todo)];
      todo := trim_array(todo, 1);
      loop
        select seq, job, gates into next from rota.runs where state = 2 and waits_for = slot_key
          order by priority desc, run_at, seq limit 1 for update;
        exit when not found;
        if not rota.try_slots(rota.keys_of(next.gates)) then
          raise exception 'another process is at the slots of a run that waits' using errcode = 'RT001';
        end if;
        select rota.slot_limit(next.job, slot_key, (slot ->> 1)::bigint) into own_limit
          from json_array_elements(next.gates::json) slot where slot ->> 0 = slot_key limit 1;
        exit when own_limit is not null
          and coalesce((select admitted from rota.gates where key = slot_key), 0) >= own_limit;
        waits := rota.take_slots(next.job, next.gates);
        update rota.runs set state = case when waits is null then 1 else 2 end, waits_for = waits where seq = next.seq;
        if waits is null then
          let_in := let_in || next.seq;
        end if;
        exit when waits = 'job:' || next.job;
        continue when waits is not null and slot_key <> 'job:' || next.job;
        foreach other in array rota.keys_of(next.gates) loop
          if other <> slot_key and other is distinct from waits and not other = any(todo) then
            todo := todo || other;
          end if;
        end loop;
      end loop;
    end loop;
    return let_in;
  end $body$`

// Finds the runs that follow those that end at a job limit, if they have the same job and no other slot. Rows that other
// transactions have locked are skipped; so are the runs before the position, unless a more urgent one waits.
//
// Relies on: runs_blocked, in its own order.
/** Locks the next runs that wait at a job limit, and says what it cost to find them. */
export const pickNext = `create function rota.pick_next(
    of_job text, of_gates text, most bigint, from_priority bigint, from_run_at bigint, from_seq bigint, out seqs bigint[],
    out places tid[], out jobs text[], out priorities bigint[], out run_ats bigint[], out kinds integer[], out passed bigint
  ) language plpgsql set plan_cache_mode = force_generic_plan as $body$
  declare
    blocked_index constant oid := format('%I.runs_blocked', 'rota'::name)::regclass;
    slot_key constant text := of_gates::json -> 0 ->> 0;
    walked bigint := pg_stat_get_xact_blocks_fetched(blocked_index);
  begin
    passed := pg_stat_get_xact_tuples_returned(blocked_index);
    if from_priority is null or exists (
      select 1 from rota.runs where state = 2 and waits_for = slot_key and priority > from_priority
    ) then
      select array_agg(seq), array_agg(place), array_agg(job), array_agg(priority), array_agg(run_at), array_agg(kind)
      into seqs, places, jobs, priorities, run_ats, kinds from (
        select seq, ctid as place, job, priority, run_at, case when crashes > 0 then 2 else 1 end as kind, gates
        from rota.runs where state = 2 and waits_for = slot_key
        order by priority desc, run_at, seq limit most for update skip locked
      ) found where found.gates = of_gates and found.job = of_job;
    else
      select array_agg(seq), array_agg(place), array_agg(job), array_agg(priority), array_agg(run_at), array_agg(kind)
      into seqs, places, jobs, priorities, run_ats, kinds from (
        select seq, ctid as place, job, priority, run_at, case when crashes > 0 then 2 else 1 end as kind, gates
        from rota.runs where state = 2 and waits_for = slot_key and priority = from_priority
          and (run_at, seq) >= (from_run_at, from_seq)
        order by run_at, seq limit most for update skip locked
      ) found where found.gates = of_gates and found.job = of_job;
    end if;
    passed := pg_stat_get_xact_tuples_returned(blocked_index) - passed - cardinality(seqs)
      + 8 * (pg_stat_get_xact_blocks_fetched(blocked_index) - walked);
  end $body$`
