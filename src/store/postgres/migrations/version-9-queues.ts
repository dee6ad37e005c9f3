/* The parts of the common transaction that keep the limits of queues. */

// Locks the rows of limited queues, in the order of their names, and finds the room in each. If nothing of a queue ended and
// nothing of it is ready, there is nothing to decide, and its row is not locked.
/** Locks limited queues. */
export const lockQueues = `
    for i in 1 .. cardinality(queue_names) loop
      if queue_left[i] > 0 or (worker_phase = 0 and may_claim and exists (
        select 1 from unnest(wanted, wanted_queues) want (job, queue)
        where want.queue = queue_names[i] and exists (select 1 from rota.runs where state = 1 and runs.job = want.job)
      )) then
        locked := locked || queue_names[i];
      end if;
    end loop;
    if cardinality(queue_names) > 0 then
      select array_agg(name), array_agg(running) into running_names, running_counts from (
        select name, running from rota.queues where name = any(locked) order by name for update
      ) held;
    end if;
    for i in 1 .. cardinality(queue_names) loop
      queue_rooms[i] := case when queue_names[i] = any(locked) then
        queue_limits[i] - coalesce(running_counts[array_position(running_names, queue_names[i])], 0) + queue_left[i]
      else 0 end;
    end loop;
`

/** Of the runs that were picked, keeps as many of each queue as it has room for. */
export const keepWithinQueues = `      is_one_queue := cardinality(queue_names) = 1 and queues_of[1] = all(queues_of);
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
`

/** Takes the runs that were claimed off the room of their queues. */
export const countEntered = `      if is_one_queue then
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
`

/** Writes the counts that changed. A queue that has room again after ends is news for other workers. */
export const writeQueues = `    for i in 1 .. cardinality(queue_names) loop
      if queue_names[i] = any(locked)
        and running_counts[array_position(running_names, queue_names[i])] <> queue_limits[i] - queue_rooms[i] then
        update rota.queues set running = queue_limits[i] - queue_rooms[i] where name = queue_names[i];
      end if;
      is_news := is_news or (queue_left[i] > 0 and queue_rooms[i] > 0);
    end loop;
`
