// Finds ready runs from the positions that the process remembers: before them, the index has only entries of claimed runs,
// which the server cannot remove yet. Runs of other priorities are elsewhere in the index, and are found by every scan.
//
// Relies on: runs_ready, in its own order. Rows that other transactions have locked are skipped.
/** Locks the ready runs of all wanted jobs, from positions on, the most urgent first. */
export const pickFrom = `create function rota.pick_from(
    wanted text[], wanted_queues text[], from_priorities bigint[], from_run_at bigint[], from_seqs bigint[], most bigint,
    out picked tid[],
    out kinds integer[], out queues text[], out priorities bigint[], out run_ats bigint[], out seqs bigint[]
  ) language sql as $body$
    select coalesce(array_agg(place), '{}'), array_agg(kind), array_agg(queue), array_agg(priority), array_agg(run_at),
      array_agg(seq)
    from (
      select found.place, case when found.crashes > 0 then 2 when found.gates is null and want.queue is null then 0 else 1 end
        as kind, want.queue, found.priority, found.run_at, found.seq
      from unnest(wanted, wanted_queues, from_priorities, from_run_at, from_seqs)
        want (job, queue, from_priority, from_run_at, from_seq)
      cross join lateral (
        select * from (
          select ctid as place, priority, run_at, seq, crashes, gates from rota.runs
          where state = 1 and job = want.job and want.from_priority is null
          order by priority desc, run_at, seq limit most for update skip locked
        ) found
        union all
        select * from (
          select ctid as place, priority, run_at, seq, crashes, gates from rota.runs
          where state = 1 and job = want.job and priority > want.from_priority
          order by priority desc, run_at, seq limit most for update skip locked
        ) found
        union all
        select * from (
          select ctid as place, priority, run_at, seq, crashes, gates from rota.runs
          where state = 1 and job = want.job and priority = want.from_priority
            and (run_at, seq) >= (want.from_run_at, want.from_seq)
          order by priority desc, run_at, seq limit most for update skip locked
        ) found
        union all
        select * from (
          select ctid as place, priority, run_at, seq, crashes, gates from rota.runs
          where state = 1 and job = want.job and priority < want.from_priority
          order by priority desc, run_at, seq limit most for update skip locked
        ) found
      ) found order by found.priority desc, found.run_at, found.seq
    ) sorted
  $body$`

// A turn that passes on has locked the rows of waiting runs, for which one with the lock of a queue may wait. So it does not
// wait for queues.
//
// Relies on: the primary key of queues.
/** Locks queues by name, and returns how many runs of them are running. */
export const lockQueues = `create function rota.lock_queues(
    given text[], passes_on boolean, out names text[], out counts bigint[]
  ) language plpgsql set plan_cache_mode = force_generic_plan as $body$
  begin
    if not passes_on then
      select array_agg(name), array_agg(running) into names, counts from (
        select name, running from rota.queues where name = any(given) order by name for update
      ) held;
      return;
    end if;
    select array_agg(name), array_agg(running) into names, counts from (
      select name, running from rota.queues where name = any(given) order by name for update skip locked
    ) held;
    if cardinality(names) is distinct from cardinality(given) then
      raise exception 'another transaction has the lock of a queue' using errcode = 'RT004';
    end if;
  end $body$`

// Relies on: runs_ready. One index lookup for each job that has ready runs.
/** Of the wanted jobs, those that have ready runs. */
export const jobsWithReady = `create function rota.jobs_with_ready(wanted text[]) returns text[]
  language plpgsql set plan_cache_mode = force_generic_plan as $body$
  declare
    with_ready text[];
  begin
    with recursive stocked (job) as (
      (select job from rota.runs where state = 1 order by job limit 1)
      union all
      select (select runs.job from rota.runs where state = 1 and runs.job > stocked.job order by runs.job limit 1)
      from stocked where stocked.job is not null
    )
    select array_agg(job) into with_ready from stocked where job = any(wanted);
    return with_ready;
  end $body$`

// The locks of the slots in "slot_keys" are held. Runs with another slot came due meanwhile, and the next turn takes them.
//
// Relies on: runs_delayed_gated and runs_delayed.
/** Makes due runs ready, or lets them wait at a full slot; returns those with slots. */
export const promoteDue = `create function rota.promote_due(at bigint, slot_keys text[]) returns bigint[]
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $body$
  declare
    due_seqs bigint[];
    due_jobs text[];
    due_gates text[];
    waits text[];
  begin
    select array_agg(due.seq), array_agg(due.job), array_agg(due.gates) into due_seqs, due_jobs, due_gates from (
      select seq, job, gates from rota.runs where state = 0 and run_at <= at and gates is not null
      order by run_at, seq limit 1000
    ) due where rota.keys_of(due.gates) <@ slot_keys;
    if due_seqs is not null then
      waits := rota.place_runs(due_jobs, due_gates);
      update rota.runs set state = case when given.waits is null then 1 else 2 end, waits_for = given.waits
      from unnest(due_seqs, waits) given (seq, waits) where runs.seq = given.seq;
    end if;
    update rota.runs set state = 1 where ctid = any(array(
      select ctid from rota.runs where state = 0 and run_at <= at and gates is null
      order by run_at, seq limit 1000 for update skip locked
    ));
    return coalesce(due_seqs, '{}');
  end $body$`
