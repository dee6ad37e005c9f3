import { refuse } from '../../kernel/definition/errors.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { fault, placeOf, within, type Place } from '../../kernel/definition/faults.js'
import { readChoice, readWhole } from '../../kernel/definition/read-value.js'
import { runIdLength, type RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import { parseRunQuery } from '../../wire/run-query/run-query.js'
import { bulkActions, mostItems, type Bulk, type BulkAction } from './bulk.js'
import type { Selection } from './select.js'

/** The request for a bulk: an action on the runs of a filter, or on the given runs. */
export interface BulkRequest extends ChangeOptions {
  readonly action: BulkAction
  /** Which runs, such as `state:failed job:mail since:yesterday`. */
  readonly filter?: string | undefined
  /** The zone of times without an offset in the filter; default: UTC. */
  readonly zone?: string | undefined
  /** Or the ids of the runs. */
  readonly ids?: readonly RunId[] | undefined
  /** The maximum number of runs, the newest first; default and maximum: 10,000. */
  readonly limit?: number | undefined
}

/** A request that was checked. */
export interface CheckedRequest extends Pick<Bulk, 'action' | 'filter' | 'reason' | 'by'> {
  readonly selection: Selection
  readonly limit: number
}

const longestReason = 4096
const longestActor = 256

/** Checks a request; throws one error with everything that is wrong with it. */
export function checkRequest(request: BulkRequest, now: Instant, author: string): CheckedRequest {
  const place = placeOf()
  const { action, filter, ids, limit = mostItems, reason, by = author, zone = 'UTC' } = request
  if (action === undefined) fault(within(place, 'action'), 'it is missing', bulkActions.join(', '))
  readChoice(action, bulkActions, within(place, 'action'))
  readWhole(limit, { min: 1, max: mostItems }, within(place, 'limit'))
  readText(reason, longestReason, within(place, 'reason'))
  readText(by, longestActor, within(place, 'by'))
  const selection = ids === undefined ? filtered(filter, { zone, now }, place) : listed(ids, filter, place)
  refuse('the bulk action', place.faults)
  return { action, filter: filter ?? null, reason: reason ?? null, by, selection, limit }
}

/** Whether a text can be the id of a bulk. */
export function fitsBulkId(id: string): boolean {
  return /^[0-9a-z]{16}$/.test(id)
}

function filtered(filter: string | undefined, here: { zone: string; now: Instant }, place: Place): Selection {
  const own = within(place, 'filter')
  if (typeof filter !== 'string') {
    fault(own, 'neither a filter nor ids are given', 'a filter such as state:failed job:mail, or ids')
    return { ids: [] }
  }
  const { conditions, faults } = parseRunQuery(filter, here)
  for (const one of faults) fault(own, `character ${one.from + 1}: ${one.message}`, one.allowed)
  if (faults.length === 0 && Object.keys(conditions).length === 0)
    fault(own, 'it is empty and would match all runs', 'at least one condition; state:failed is enough')
  return { conditions }
}

function listed(ids: readonly RunId[], filter: string | undefined, place: Place): Selection {
  const own = within(place, 'ids')
  if (filter !== undefined) fault(own, 'a filter is given too', 'one of the two')
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > mostItems) {
    fault(own, 'it is not a list of ids', `1 to ${mostItems} ids of runs`)
    return { ids: [] }
  }
  const wrong = ids.findIndex((id) => typeof id !== 'string' || id.length !== runIdLength)
  if (wrong !== -1) fault(own, `entry ${wrong + 1} is not the full id of a run`, `${runIdLength} characters`)
  return { ids }
}

function readText(value: unknown, longest: number, place: Place): void {
  if (value === undefined) return
  if (typeof value !== 'string') fault(place, 'it is not a text')
  else if (value.length > longest)
    fault(place, `it has ${value.length} characters`, `at most ${longest} characters`)
}
