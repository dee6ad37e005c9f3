import type { Migration } from '../../sql/migration.js'

// As before, but from 256 slots on: since runs with slots are claimed ahead, usual turns free more than 64 of them, and one
// lock for all slots would let all hosts take turns. A process of the release before may use 64; both take the lock of all.
const lockSlots = `create or replace function rota.lock_slots(keys text[]) returns void language plpgsql as $body$
  declare
    id integer;
  begin
    if cardinality(keys) > 256 then
      perform pg_advisory_xact_lock(1383036004, hashtext('rota'::name));
      return;
    end if;
    perform pg_advisory_xact_lock_shared(1383036004, hashtext('rota'::name));
    for id in select distinct hashtext('rota'::name || ':' || given.key) from unnest(keys) given (key) order by 1 loop
      perform pg_advisory_xact_lock(1383036003, id);
    end loop;
  end $body$`

/** Limited runs ahead of their turn. Replaces a function by one that does the same: a process of the release before goes on. */
export const version5: Migration = { version: 5, compatibleFrom: 1, statements: [lockSlots] }
