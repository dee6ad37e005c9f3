import type { Migration } from '../../sql/migration.js'

// What the usual transaction looks for, which does not claim runs with a rate limit. If a worker that may claim could start
// one of these jobs, the turn is no usual one. Otherwise the answer is when the first run may start that is parked, or
// whose limits are used up until an instant. Volatile, and called last: it sees what the transaction has written.
//
// Relies on: the unique index of workers.id; runs_ready; runs_blocked, which has the parked runs of a job by their
// instant, the last 16 digits.
const ratedAt = `create function rota.rated_at(
    of_worker text, at bigint, ready_of text[], parked_of text[], full_of text[], full_until bigint[]
  ) returns bigint language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_seqscan = off as $body$
  declare
    parked_at bigint;
  begin
    if not exists (
      select 1 from rota.workers where id = of_worker and phase = 0 and lease_until >= at and is_draining = 0
    ) then
      return null;
    end if;
    select min(right(found.waits_for, 16)::bigint) into parked_at
    from unnest(parked_of) given (job) cross join lateral (
      select waits_for from rota.runs
      where state = 2 and waits_for >= 'rate:' || given.job || '=' and waits_for < 'rate:' || given.job || '>'
      order by waits_for limit 1
    ) found;
    if parked_at <= at or exists (
      select 1 from unnest(ready_of) given (job)
      where exists (select 1 from rota.runs where state = 1 and runs.job = given.job)
    ) then
      raise exception 'a run with a rate limit may start' using errcode = 'RT003';
    end if;
    return least(parked_at, (
      select min(given.until) from unnest(full_of, full_until) given (job, until)
      where exists (select 1 from rota.runs where state = 1 and runs.job = given.job)
    ));
  end $body$`

/** Rate limits of queues, and the look for runs with a rate limit. Only adds: a process of the release before goes on. */
export const version6: Migration = {
  version: 6,
  compatibleFrom: 1,
  statements: [`alter table rota.queues add column rate text`, ratedAt],
}
