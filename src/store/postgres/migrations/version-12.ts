import type { Migration } from '../../sql/migration.js'

/**
 * A run is stored as three versions of its row: recorded, claimed, ended. Each has an entry in both unique indexes, so
 * their pages begin with room for all three. In full pages the server would search for dead entries at each claim and end.
 */
export const version12: Migration = {
  version: 12,
  compatibleFrom: 1,
  statements: [
    `alter index rota.runs_pkey set (fillfactor = 33)`,
    `alter index rota.runs_id_key set (fillfactor = 33)`,
  ],
}
