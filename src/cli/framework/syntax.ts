/** What a command is called with. */
export interface Syntax {
  readonly name: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option[]
  /** What may follow ` -- `, where anything may. */
  readonly rest?: string
}

/** A word without a name. */
export interface Argument {
  readonly name: string
  readonly help: string
  readonly isOptional?: boolean
  /** It often has spaces; this is how it is written in quotes. */
  readonly quoted?: string
  /** What a shell may complete it with. */
  readonly completes?: Completes
}

/** The names a shell can ask the store for, or words that are known beforehand. */
export type Completes = 'trigger' | 'job' | readonly string[]

/** A named option: a flag, or one with a value. */
export interface Option {
  readonly name: string
  /** What it was called before, which goes on being understood. */
  readonly formerly?: string
  readonly short?: string
  /** What stands for its value in the help, such as `duration`; absent for a flag. */
  readonly value?: string
  readonly help: string
  /** The only words it takes. */
  readonly choices?: readonly string[]
  /** It takes a whole number between these. */
  readonly whole?: { readonly min: number; readonly max: number }
  /** It may be given more than once. */
  readonly isList?: boolean
  /** Its value is content, such as a note or JSON; all others are names, paths, times and the like, and are checked as such. */
  readonly isContent?: boolean
  readonly completes?: Completes | 'file'
}
