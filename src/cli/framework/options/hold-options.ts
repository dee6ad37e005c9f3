import { dryRunOption, reasonOption, type Surroundings } from '../command.js'
import type { Author } from '../../../kernel/audit/change-options.js'
import type { Option } from '../syntax.js'
import { authorOf } from '../author-of.js'
import { momentOf } from '../times-of.js'

/** The options of a hold: who, why, and until when. */
export const holdOptions: readonly Option[] = [
  reasonOption,
  dryRunOption,
  {
    name: 'until',
    value: 'time',
    help: 'when it ends, such as 2h or 2026-01-05T09:00; default: when you end it',
  },
  { name: 'by', value: 'name', help: 'who; default: the user of this machine' },
]

/** The given options of a hold. */
export interface GivenHold extends Author {
  readonly until: Date | undefined
  readonly dryRun: boolean
}

/** Reads the options of a hold. */
export function readHold(context: Surroundings): GivenHold {
  const dryRun = context.args.flag(dryRunOption.name)
  return { ...authorOf(context), until: momentOf(context, 'until', 'ahead'), dryRun }
}
