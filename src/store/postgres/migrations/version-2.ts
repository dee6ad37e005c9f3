import type { Migration } from '../../sql/migration.js'
import { commitPlain } from './version-2-plain.js'
import { turn } from './version-2-turn.js'

/*
 * Processes of the previous release go on working while this step is taken and afterwards. So it only adds: a column has
 * a default, and a function of version 1 is replaced only by one that answers the same; any other gets a name of its own.
 */

// What `rota workers` shows. The previous release leaves it out: it registers nothing but workers.
const hosts = [
  `alter table rota.workers
    add column roles text not null default 'worker',
    add column slots bigint,
    add column beat_at bigint,
    add column is_draining smallint not null default 0`,
]

// What the calls of a process have to know, once the answer to one was lost: raised each time, so that one that is still
// under way somewhere comes too late. Where there is no row, nothing was lost for a day.
const fences = [
  `create table rota.fences (writer text primary key, fence bigint not null, at bigint not null)`,
]

/** Hosts that can be told apart and drained, and the usual transaction as one call. */
export const version2: Migration = {
  version: 2,
  compatibleFrom: 1,
  statements: [...hosts, ...fences, turn, commitPlain],
}
