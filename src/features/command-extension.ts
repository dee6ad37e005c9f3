import type { Context, Ended, Examples } from '../cli/framework/command.js'
import type { Option } from '../cli/framework/syntax.js'

/** What a feature adds to a command that belongs to no feature: another way to call it. */
export interface CommandExtension<App = never> {
  readonly options: readonly Option[]
  readonly examples: Examples
  /** One sentence for the help. */
  readonly about: string
  /** Whether the command line means this way; it then has no arguments. */
  readonly isMeant: (context: Pick<Context, 'args' | 'out' | 'environment' | 'directory'>) => boolean
  readonly run: (app: App, context: Context<App>) => Ended
}
