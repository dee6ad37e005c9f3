import { shown } from '../../../kernel/definition/faults.js'
import { partitionOf } from '../../../kernel/partition/partition.js'
import type { Instant } from '../../../time/instant.js'
import { messageOf } from './body-pick.js'
import { dateInText } from './date-in-text.js'

/**
 * The partition of a named item: the choice of the user, where undefined leaves it out; otherwise the first
 * valid date in the name; otherwise the day of its last change, in the zone of the trigger.
 */
export function choosePartition(input: {
  readonly name: string
  readonly changedAt: Instant
  readonly timezone: string
  readonly choose: (() => unknown) | undefined
}): string | undefined {
  const { name, changedAt, timezone, choose } = input
  if (choose === undefined) return dateInText(name) ?? partitionOf('day', changedAt, timezone)
  const chosen = call(choose)
  if (chosen === undefined || chosen === null) return undefined
  if (typeof chosen === 'string') return chosen
  throw new TypeError(`its partition function returned ${shown(chosen)}, not a text`)
}

function call(choose: () => unknown): unknown {
  try {
    return choose()
  } catch (error) {
    throw new Error(`its partition function threw: ${messageOf(error)}`, { cause: error })
  }
}
