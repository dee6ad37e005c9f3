import type { Examples, Surroundings } from '../cli/framework/command.js'
import type { Option } from '../cli/framework/syntax.js'

/** What a feature adds to `rota up`. */
export interface UpExtension<App = never> {
  readonly options: readonly Option[]
  readonly examples?: Examples
  /** Reads its options; undefined if none of them is given. */
  readonly read: (context: Surroundings) => UpPart<App> | undefined
}

/** What the options of a feature ask of an app that is about to start. */
export interface UpPart<App = never> {
  /** Defines what the options name; with it, no config and no store is needed. */
  readonly define?: (app: App) => void
  /** The option and its files, if other files make it another program. */
  readonly program?: { readonly option: string; readonly files: readonly string[] }
  /** Called before anything is written; returns what is printed once the app has started. */
  readonly open?: (app: App) => Promise<Opened | undefined>
}

/** What a part has opened: a line for people, and data for programs. */
export interface Opened {
  readonly text: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}
