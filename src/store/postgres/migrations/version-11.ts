import type { Migration } from '../../sql/migration.js'
import { commitWork } from './version-11/commit.js'
import { jobsWithReady, lockQueues, pickFrom, promoteDue } from './version-11/pick.js'
import { letIn, passSlotsToWaiting, pickNext } from './version-11/slots.js'

/**
 * At a limit where runs wait, one run follows another without a lock (commit/passing-on.ts). No release has the earlier
 * functions of these names.
 */
export const version11: Migration = {
  version: 11,
  compatibleFrom: 1,
  statements: [
    `drop routine if exists rota.commit_work`,
    `drop routine if exists rota.pick_from`,
    `drop function if exists rota.pass_slots_to_waiting(text[], text[])`,
    passSlotsToWaiting,
    letIn,
    pickNext,
    pickFrom,
    lockQueues,
    jobsWithReady,
    promoteDue,
    commitWork,
  ],
}
