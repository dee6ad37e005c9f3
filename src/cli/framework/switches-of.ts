import { likelySwitches, readSwitches, type Switches } from '../../kernel/hold/switches.js'
import type { Context } from './command.js'

/** The kill switches of the environment; a name that was most likely misspelt gets a warning. */
export function switchesOf({ out, environment }: Pick<Context, 'out' | 'environment'>): Switches {
  const switches = readSwitches(environment)
  for (const hint of likelySwitches(environment)) out.note(`warning: ${hint}`)
  return switches
}
