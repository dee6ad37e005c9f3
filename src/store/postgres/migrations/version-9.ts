import type { Migration } from '../../sql/migration.js'

// One key, the common case, needs no loop over a query. Assignments need no executor.
/** Locks slots, in the order of their numbers; from 256 on one lock stands for all of them. */
const lockSlots = `create or replace function rota.lock_slots(keys text[]) returns void language plpgsql as $body$
  declare
    is_done boolean;
    id integer;
  begin
    if cardinality(keys) > 256 then
      is_done := pg_advisory_xact_lock(1383036004, hashtext('rota'::name)) is null;
      return;
    end if;
    is_done := pg_advisory_xact_lock_shared(1383036004, hashtext('rota'::name)) is null;
    if cardinality(keys) = 1 then
      is_done := pg_advisory_xact_lock(1383036003, hashtext('rota'::name || ':' || keys[1])) is null;
      return;
    end if;
    for id in select distinct hashtext('rota'::name || ':' || given.key) from unnest(keys) given (key) order by 1 loop
      is_done := pg_advisory_xact_lock(1383036003, id) is null;
    end loop;
  end $body$`

/** A small turn is cheap: one slot, the common case, is locked without a query. Later steps create the function that is dropped here. */
export const version9: Migration = {
  version: 9,
  compatibleFrom: 1,
  statements: [`drop function if exists rota.pass_slots_on(text[], text[])`, lockSlots],
}
