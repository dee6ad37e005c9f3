// Frees slots. Whoever is next at a slot takes the place that was freed, and its count is right when this function returns.
// "next_in" are such runs, still marked as waiting: the caller claims them or makes them ready. "let_in" are ready already.
//
// Relies on: the primary keys of jobs and gates, runs_blocked. Usually each run that waits has one slot: then the slots do
// not depend on each other. Otherwise it is done one end after the other, since their order decides who is let in.
/** Frees slots, and finds who is next. */
export const passSlotsOn = `create function rota.pass_slots_on(
    of_jobs text[], of_gates text[], out let_in bigint[], out next_in bigint[], out next_places tid[], out next_jobs text[],
    out next_priorities bigint[], out next_run_at bigint[], out next_kinds integer[]
  ) language plpgsql as $body$
  declare
    freed_keys text[];
    freed bigint[];
    limits bigint[];
    owns boolean[];
    same_gates text[];
    waiting_at text[];
    is_simple boolean;
  begin
    let_in := '{}';
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
