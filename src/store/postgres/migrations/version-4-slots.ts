/*
 * Concurrency slots without the exclusive lock of the schema.
 *
 * The rule: whoever reads or changes the count of a slot, or who waits there, holds the lock of that slot until its
 * transaction ends, and the lock of the schema together with others. So of one who leaves a slot and one who comes to it,
 * one is first as a whole: either the second finds the room, or the first finds who waits. No wake-up is lost.
 *
 * Locks that are waited for are taken at once and in the order of their numbers. A run that is let in may have more slots
 * than the one that was freed; their locks are tried, and where one is taken the transaction is made again as the only
 * writer. Whoever holds the lock of the schema exclusively needs none of these.
 *
 * Why this is enough, and what else was weighed: docs/decisions/0051-postgres-slot-locks.md.
 */

// From 64 slots on one lock stands for all of them: the server has room for a limited number of locks. Whoever locks
// single slots holds that one together with others.
//
// In the order of their numbers, so that no two wait for each other. Called once in a transaction, before anything else
// of it waits for somebody; later ones are only tried.
const lockSlots = `create function rota.lock_slots(keys text[]) returns void language plpgsql as $body$
  declare
    id integer;
  begin
    if cardinality(keys) > 64 then
      perform pg_advisory_xact_lock(1383036004, hashtext('rota'::name));
      return;
    end if;
    perform pg_advisory_xact_lock_shared(1383036004, hashtext('rota'::name));
    for id in select distinct hashtext('rota'::name || ':' || given.key) from unnest(keys) given (key) order by 1 loop
      perform pg_advisory_xact_lock(1383036003, id);
    end loop;
  end $body$`

// Never waits, so it may be called at any time. What this transaction holds already it gets again.
const trySlots = `create function rota.try_slots(keys text[]) returns boolean language plpgsql as $body$
  begin
    if not pg_try_advisory_xact_lock_shared(1383036004, hashtext('rota'::name)) then
      return false;
    end if;
    return (
      select coalesce(bool_and(pg_try_advisory_xact_lock(1383036003, hashtext('rota'::name || ':' || given.key))), true)
      from unnest(keys) given (key)
    );
  end $body$`

// Relies on: the primary key of jobs. A job's own limits are those of its definition; all others stand in the run.
const slotLimit = `create function rota.slot_limit(of_job text, slot_key text, stored bigint)
  returns bigint language sql stable as $body$
    select coalesce((
      select case
        when slot_key = 'job:' || of_job then coalesce((definition::json ->> 'concurrency')::bigint, 9007199254740991)
        when starts_with(slot_key, 'key:' || of_job || '=') then (definition::json ->> 'concurrencyPerKey')::bigint
      end from rota.jobs where name = of_job
    ), stored)
  $body$`

// Relies on: the primary key of gates.
const giveBack = `create function rota.give_back(keys text[]) returns void language plpgsql as $body$
  declare
    slot_key text;
  begin
    foreach slot_key in array keys loop
      update rota.gates set admitted = admitted - 1 where key = slot_key and admitted > 1;
      if not found then
        delete from rota.gates where key = slot_key and admitted = 1;
      end if;
    end loop;
  end $body$`

const keysOf = `create function rota.keys_of(of_gates text) returns text[] language sql immutable as $body$
    select array(
      select slot ->> 0 from json_array_elements(of_gates::json) with ordinality given (slot, n) order by n
    )
  $body$`

// Relies on: the primary key of gates. All slots of a run, or none and the key of the first full one.
const takeSlots = `create function rota.take_slots(of_job text, of_gates text) returns text language plpgsql as $body$
  declare
    slots constant json := of_gates::json;
    slot_key text;
    most bigint;
    taken text[] := '{}';
  begin
    for i in 0 .. json_array_length(slots) - 1 loop
      slot_key := slots -> i ->> 0;
      most := rota.slot_limit(of_job, slot_key, (slots -> i ->> 1)::bigint);
      insert into rota.gates as gate (key, admitted) select slot_key, 1 where most >= 1
        on conflict (key) do update set admitted = gate.admitted + 1 where gate.admitted < most;
      if not found then
        perform rota.give_back(taken);
        return slot_key;
      end if;
      taken := taken || slot_key;
    end loop;
    return null;
  end $body$`

// Relies on: runs_blocked. The same as letInWaiting in concurrency-slots.ts. A run that waits may have slots besides the
// one that was freed: where their locks are not to be had at once, the transaction is made again as the only writer.
const letIn = `create function rota.let_in(keys text[]) returns bigint[] language plpgsql as $body$
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
          order by priority desc, run_at, seq limit 1;
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

// Relies on: the primary keys of jobs and gates. For each run, in order, the key of the full slot at which it waits; null
// where it is let in, or has no slots. With one slot each, the first ones of a slot get the room that it has.
const placeRuns = `create function rota.place_runs(of_jobs text[], of_gates text[]) returns text[]
  language plpgsql as $body$
  declare
    places text[] := '{}';
    keys text[];
    counts bigint[];
    is_simple boolean;
  begin
    select bool_and(json_array_length(gates::json) = 1) into is_simple from unnest(of_gates) given (gates)
    where gates is not null;
    if is_simple then
      with defined as materialized (
        select name, coalesce((definition::json ->> 'concurrency')::bigint, 9007199254740991) as total,
          (definition::json ->> 'concurrencyPerKey')::bigint as per_key
        from rota.jobs where name = any(of_jobs)
      ), slots as (
        select n, given.job, gates::json -> 0 ->> 0 as key, (gates::json -> 0 ->> 1)::bigint as stored
        from unnest(of_jobs, of_gates) with ordinality given (job, gates, n)
      ), limited as (
        select slots.n, slots.key, coalesce(case when slots.key = 'job:' || slots.job then defined.total
          when starts_with(slots.key, 'key:' || slots.job || '=') then defined.per_key end, slots.stored) as most
        from slots left join defined on defined.name = slots.job
      ), ranked as (
        select *, row_number() over (partition by key order by n) as nth, min(most) over (partition by key) as low,
          max(most) over (partition by key) as high
        from limited
      ), placed as materialized (
        select ranked.n, ranked.key, coalesce(ranked.nth <= ranked.most - coalesce(gates.admitted, 0), true) as is_in,
          ranked.low is not distinct from ranked.high as is_even
        from ranked left join rota.gates on gates.key = ranked.key
      ), counted as (
        select key, count(*) as n from placed where is_in and key is not null group by key
      )
      select array_agg(case when not is_in then key end order by n), bool_and(is_even),
        (select array_agg(key) from counted), (select array_agg(counted.n) from counted)
      into places, is_simple, keys, counts from placed;
    end if;
    if is_simple then
      insert into rota.gates as gate (key, admitted) select * from unnest(keys, counts)
        on conflict (key) do update set admitted = gate.admitted + excluded.admitted;
      return places;
    end if;
    places := '{}';
    for i in 1 .. cardinality(of_gates) loop
      places := array_append(places, case when of_gates[i] is not null then rota.take_slots(of_jobs[i], of_gates[i]) end);
    end loop;
    return places;
  end $body$`

/** Slots as functions of the schema. */
export const slotFunctions: readonly string[] = [
  lockSlots,
  trySlots,
  slotLimit,
  giveBack,
  keysOf,
  takeSlots,
  letIn,
  placeRuns,
]
