import { likelySwitches, readSwitches, type Switches } from '../../kernel/hold/switches.js'
import type { Context } from './command.js'

/** The kill switches of the environment; warns about a name that is probably misspelt. */
export function switchesOf({ out, environment }: Pick<Context, 'out' | 'environment'>): Switches {
  const switches = readSwitches(environment)
  for (const hint of likelySwitches(environment)) out.note(`warning: ${hint}`)
  return switches
}
