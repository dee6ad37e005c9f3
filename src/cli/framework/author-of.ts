import { userInfo } from 'node:os'
import type { Author } from '../../kernel/audit/change-options.js'
import type { Surroundings } from './command.js'

/** Who makes the changes of a command, and why. */
export function authorOf(context: Surroundings): Author {
  const { args } = context
  return { by: args.text('by') ?? userOf(context), via: 'cli', reason: args.text('reason') }
}

/** The user of the command line. Under a service manager the environment often has no name; the system may know it. */
export function userOf({ environment }: Surroundings): string {
  const named = [environment['USER'], environment['USERNAME']].find(
    (name) => name !== undefined && name !== '',
  )
  return named ?? systemUser() ?? 'cli'
}

function systemUser(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user id without a name.
    return undefined
  }
}
