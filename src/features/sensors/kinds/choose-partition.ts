import { shown } from '../../../kernel/definition/faults.js'
import { partitionOf } from '../../../kernel/partition/partition.js'
import type { Instant } from '../../../time/instant.js'
import { dateInText } from './date-in-text.js'

/**
 * The partition of something that was found under a name: the user's choice, where undefined leaves it out; else the first
 * real date in the name; else the day on which it changed, in the zone of the trigger.
 */
export function choosePartition(input: {
  readonly name: string
  readonly changedAt: Instant
  readonly timezone: string
  readonly choose: (() => unknown) | undefined
}): string | undefined {
  const { name, changedAt, timezone, choose } = input
  if (choose === undefined) return dateInText(name) ?? partitionOf('day', changedAt, timezone)
  const chosen = asked(choose)
  if (chosen === undefined || chosen === null) return undefined
  if (typeof chosen === 'string') return chosen
  throw new TypeError(`its partition function gave ${shown(chosen)}, not a text`)
}

function asked(choose: () => unknown): unknown {
  try {
    return choose()
  } catch (error) {
    throw new Error(`its partition function threw: ${messageOf(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
