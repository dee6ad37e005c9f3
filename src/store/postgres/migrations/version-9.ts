import type { Migration } from '../../sql/migration.js'
import { commitWork } from './version-9-commit.js'
import { pickFrom } from './version-9-pick.js'
import { lockSlots, passSlotsOn } from './version-9-slots.js'

/**
 * The common transaction: it claims runs where they wait, and a small turn is cheap. Processes of the previous release call
 * the same functions.
 */
export const version9: Migration = {
  version: 9,
  compatibleFrom: 1,
  statements: [
    `drop function if exists rota.pass_slots_on(text[], text[])`,
    lockSlots,
    passSlotsOn,
    pickFrom,
    commitWork,
  ],
}
