import { quotedText } from '../../text/error-text.js'
import type { Context } from './command.js'
import { usageError, withGuess } from './usage-error.js'

/** The word that says what a command is to do; one that it does not know is refused with those it does. */
export function chosenWord<Word extends string>(word: string, choice: Choice<Word>): Word {
  const { known, path = '<action>', command } = choice
  const chosen = known.find((one) => one === word)
  if (chosen !== undefined) return chosen
  const message = `${quotedText(word)} is not one of them`
  throw usageError(
    [withGuess({ path, message, allowed: known.join(', '), guess: { word, known } })],
    hintOf(command),
  )
}

/** Which words there are, where, and of which command. */
export interface Choice<Word extends string> {
  readonly command: string
  readonly known: readonly Word[]
  readonly path?: string
}

/** Refuses options that are given but do not go with the action: whoever gave them would wait for what they do. */
export function refuseStray<Action extends string>(
  { args }: Context,
  action: Action,
  { command, owners }: { readonly command: string; readonly owners: OptionOwners<Action> },
): void {
  const stray = Object.entries(owners).filter(([name, own]) => args.flag(name) && !own.includes(action))
  if (stray.length === 0) return
  const faults = stray.map(([name, own]) => ({
    path: `--${name}`,
    message: `it does not go with ${action}`,
    allowed: `with ${own.join(', ')}`,
  }))
  throw usageError(faults, hintOf(command))
}

/** With which actions each option goes. */
export type OptionOwners<Action extends string> = Readonly<Record<string, readonly Action[]>>

function hintOf(command: string): string {
  return `\`rota ${command} --help\` shows examples`
}
