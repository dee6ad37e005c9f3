import { usageError } from '../framework/usage-error.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'

/** A queue instead of a trigger. */
export const queueOption: Option = { name: 'queue', value: 'name', help: 'a queue instead of a trigger' }

/** The one trigger or queue that a command was given. */
export function oneTarget({ args }: Surroundings): {
  readonly kind: 'trigger' | 'queue'
  readonly name: string
} {
  const trigger = args.optionalWord(0)
  const queue = args.text(queueOption.name)
  if (trigger !== undefined && queue === undefined) return { kind: 'trigger', name: trigger }
  if (queue !== undefined && trigger === undefined) return { kind: 'queue', name: queue }
  const message = trigger === undefined ? 'missing argument <trigger>' : 'cannot be combined with --queue'
  throw usageError([{ path: '<trigger>', message }], 'name a trigger, or a queue with --queue')
}
