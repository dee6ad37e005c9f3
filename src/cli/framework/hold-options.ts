import { userInfo } from 'node:os'
import type { Surroundings } from './command.js'
import type { Option } from './syntax.js'
import { momentOf } from './times-of.js'

/** Who holds something back, why, and until when. */
export const holdOptions: readonly Option[] = [
  { name: 'note', value: 'text', help: 'the reason; `rota why` shows it', isContent: true },
  { name: 'until', value: 'time', help: 'when it ends by itself, such as 2h or 2026-01-05T09:00' },
  { name: 'by', value: 'name', help: 'who; default: the user of this machine' },
]

/** What a command line says of a hold. */
export interface GivenHold {
  readonly by: string
  readonly note: string | undefined
  readonly until: Date | undefined
}

/** What was said about a hold. */
export function readHold(context: Surroundings): GivenHold {
  const { args } = context
  const until = momentOf(context, 'until', 'ahead')
  return { by: args.text('by') ?? userOf(context), note: args.text('note'), until }
}

/** Who uses the command line. Under a service manager the environment often names nobody; the system may still know. */
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
    // A container may run as a number that has no name.
    return undefined
  }
}
