// Finds ready runs from the positions that the process remembers: before them, the index has only entries of claimed runs,
// which the server cannot remove yet. Runs of other priorities are elsewhere in the index, and are found by every scan.
//
// Relies on: runs_ready, in its own order. Rows that other transactions have locked are skipped.
/** Locks the ready runs of all wanted jobs, from positions on, the most urgent first. */
export const pickFrom = `create function rota.pick_from(
    wanted text[], wanted_queues text[], from_priorities bigint[], from_run_at bigint[], most bigint, out picked tid[],
    out kinds integer[], out queues text[], out priorities bigint[], out run_ats bigint[], out seqs bigint[]
  ) language sql as $body$
    select coalesce(array_agg(place), '{}'), array_agg(kind), array_agg(queue), array_agg(priority), array_agg(run_at),
      array_agg(seq)
    from (
      select found.place, case when found.crashes > 0 then 2 when found.gates is null and want.queue is null then 0 else 1 end
        as kind, want.queue, found.priority, found.run_at, found.seq
      from unnest(wanted, wanted_queues, from_priorities, from_run_at) want (job, queue, from_priority, from_run_at)
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
          where state = 1 and job = want.job and priority = want.from_priority and run_at >= want.from_run_at
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
