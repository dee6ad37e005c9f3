import { type Fault, faultText, RotaError } from '../../kernel/definition/errors.js'
import { nearest } from '../../kernel/definition/read-value.js'
import { codeText } from '../../text/error-text.js'

/** The error for an invalid command line; the hint names the help. */
export function usageError(faults: readonly Fault[], hint: string): RotaError {
  const [only, ...others] = faults
  const wrong = only === undefined || others.length > 0 ? `${faults.length} faults` : usageText(only)
  return new RotaError('USAGE', `${wrong}; ${hint}`, { faults })
}

/** A fault as a sentence: many messages of the command line name the option or argument themselves. */
export function usageText(fault: Fault): string {
  const { path, message } = fault
  const isNamed = /^[-<]/.test(path) && message.includes(path)
  return faultText(isNamed ? { ...fault, path: '' } : fault)
}

/** A fault together with the words among which the intended one may be. */
export interface GuessableFault extends Fault {
  readonly guess?: { readonly word: string; readonly known: readonly string[] }
}

/** A fault with the nearest known word, if one is near. */
export function withGuess({ guess, ...fault }: GuessableFault): Fault {
  const meant = guess === undefined ? undefined : nearest(guess.word, guess.known)
  return meant === undefined ? fault : { ...fault, message: `${fault.message} (did you mean \`${meant}\`?)` }
}

/** The error for a command that does not exist. */
export function unknownCommand(name: string, known: readonly string[]): RotaError {
  const meant = otherNames.get(name) ?? nearest(name, [...known, 'help'])
  const hint = meant === undefined ? '; `rota --help` lists the commands' : ` (did you mean \`${meant}\`?)`
  return new RotaError('USAGE', `unknown command ${codeText(name)}${hint}`)
}

/** Command names of other programs, with Rota's name for each. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['start', 'up'],
  ['serve', 'up'],
  ['new', 'init'],
  ['create', 'add'],
  ['ls', 'list'],
  ['ps', 'runs'],
  ['history', 'runs'],
  ['rm', 'remove'],
  ['delete', 'remove'],
  ['info', 'show'],
  ['describe', 'show'],
  ['trigger', 'run'],
  ['exec', 'run'],
  ['push', 'enqueue'],
  ['tail', 'logs'],
  ['stop', 'pause'],
  ['disable', 'pause'],
  ['unpause', 'resume'],
  ['enable', 'resume'],
  ['explain', 'why'],
  ['check', 'doctor'],
  ['status', 'doctor'],
  ['health', 'doctor'],
])
