import type { Migration } from '../../sql/migration.js'

// Frees slots for which no run waits, each by one end: as many triggers have that are due at the same time. Everything else
// is done by another function (version-11/slots.ts).
//
// Relies on: runs_blocked, the primary key of gates. Its caller holds the locks of all these slots.
const passSlotsOn = `create or replace function rota.pass_slots_on(
    of_jobs text[], of_gates text[], out let_in bigint[], out next_in bigint[], out next_places tid[], out next_jobs text[],
    out next_priorities bigint[], out next_run_at bigint[], out next_kinds integer[], out is_one boolean
  ) language plpgsql as $body$
  declare
    keys text[];
    removed bigint;
  begin
    if of_gates[1] <> any(of_gates) then
      keys := array(
        select distinct gates::json -> 0 ->> 0 from unnest(of_gates) given (gates) where json_array_length(gates::json) = 1
      );
    end if;
    if cardinality(keys) = cardinality(of_gates)
      and not exists (select 1 from rota.runs where state = 2 and waits_for = any(keys)) then
      delete from rota.gates where key = any(keys) and admitted <= 1;
      get diagnostics removed = row_count;
      if removed < cardinality(keys) then
        update rota.gates set admitted = admitted - 1 where key = any(keys);
      end if;
      let_in := '{}';
      next_in := '{}';
      next_places := '{}';
      is_one := false;
      return;
    end if;
    select * into let_in, next_in, next_places, next_jobs, next_priorities, next_run_at, next_kinds, is_one
    from rota.pass_slots_to_waiting(of_jobs, of_gates);
  end $body$`

/** Slots for which nobody waits are freed with one statement. Processes of the previous release call the same function. */
export const version10: Migration = {
  version: 10,
  compatibleFrom: 1,
  statements: [passSlotsOn],
}
