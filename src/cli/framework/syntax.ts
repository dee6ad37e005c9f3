/** The arguments and options of a command. */
export interface Syntax {
  readonly name: string
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** What may follow ` -- `; absent if nothing may. */
  readonly rest?: string
  readonly subcommands?: readonly Syntax[]
  /** Present if the command has an action of its own. */
  readonly run?: unknown
}

/** A positional argument. One that is required after an optional one is required only together with it. */
export interface Argument {
  readonly name: string
  readonly help: string
  readonly isOptional?: boolean
  /** The only words it takes. */
  readonly choices?: readonly string[]
  /** An example in quotes, for an argument that often contains spaces. */
  readonly quoted?: string
  /** The names with which a shell completes it, if it has no choices. */
  readonly completes?: Completes
}

/** The kinds of names that a shell can read from the store. */
export type Completes = 'trigger' | 'job'

/** A named option: a flag, or one with a value. */
export interface Option {
  readonly name: string
  /** Another name that is accepted for it. */
  readonly formerly?: string
  readonly short?: string
  /** The name of its value in the help, such as `duration`; absent for a flag. */
  readonly value?: string
  readonly help: string
  /** The key that the library has for it; default: its name in camelCase. */
  readonly key?: string
  readonly isRequired?: boolean
  /** The only words it takes. */
  readonly choices?: readonly string[]
  /** It takes several choices, separated by commas. */
  readonly isSeveral?: boolean
  /** It takes a whole number between these. */
  readonly whole?: readonly [min: number, max: number]
  /** It may be given more than once. */
  readonly isList?: boolean
  /** Its value is content, such as a note or JSON; other values are names, paths and times, and are checked as such. */
  readonly isContent?: boolean
  readonly completes?: Completes | 'file'
}
