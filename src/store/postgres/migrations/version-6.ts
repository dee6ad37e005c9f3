import type { Migration } from '../../sql/migration.js'

// What a worker has to know of jobs with a rate limit, whose runs the usual transaction leaves alone: whether any is ready
// of these, and when the first one that is parked of those may start. Volatile: it sees what the transaction has written.
//
// Relies on: runs_ready; runs_blocked, which has the parked runs of a job by their instant, the last 16 digits.
const ratedWork = `create function rota.rated_work(ready_of text[], parked_of text[])
  returns json language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_seqscan = off as $body$
  begin
    return json_build_array(
      exists (
        select 1 from unnest(ready_of) given (job)
        where exists (select 1 from rota.runs where state = 1 and runs.job = given.job)
      ),
      (
        select min(right(found.waits_for, 16)::bigint) from unnest(parked_of) given (job) cross join lateral (
          select waits_for from rota.runs
          where state = 2 and waits_for >= 'rate:' || given.job || '=' and waits_for < 'rate:' || given.job || '>'
          order by waits_for limit 1
        ) found
      )
    );
  end $body$`

/** Rate limits of queues, and the look for runs with a rate limit. Only adds: a process of the release before goes on. */
export const version6: Migration = {
  version: 6,
  compatibleFrom: 1,
  statements: [`alter table rota.queues add column rate text`, ratedWork],
}
