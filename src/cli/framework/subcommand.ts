import type { Option, Syntax } from './syntax.js'

/** The command of a command line, with the remaining words. */
export interface Chosen<Command = Syntax> {
  readonly command: Command
  /** The names of the command and its subcommands, such as `round timing set`. */
  readonly path: string
  readonly argv: readonly string[]
  /** Its parent command. */
  readonly parent?: Command
}

/** Finds the subcommand; options may come before its name. */
export function chooseSubcommand<Command extends Nested<Command>>(chosen: Chosen<Command>): Chosen<Command> {
  const { command, path, argv } = chosen
  if (command.subcommands === undefined) return chosen
  const index = firstWord(argv, allOptions(command))
  const found = command.subcommands.find(({ name }) => name === argv[index])
  if (found === undefined) return chosen
  const rest = argv.toSpliced(index, 1)
  return chooseSubcommand({ command: found, path: `${path} ${found.name}`, argv: rest, parent: command })
}

/** A command and all its subcommands, each with its path. */
export function withSubcommands<Command extends Nested<Command>>(
  command: Command,
  path: string,
): readonly Named<Command>[] {
  const { subcommands = [] } = command
  return [{ command, path }, ...subcommands.flatMap((one) => withSubcommands(one, `${path} ${one.name}`))]
}

/** A command with its path, such as `round timing set`. */
export type Named<Command> = Pick<Chosen<Command>, 'command' | 'path'>

/** A command whose subcommands are of its own kind. */
type Nested<Command> = Omit<Syntax, 'subcommands'> & { readonly subcommands?: readonly Command[] }

/** The options of a command and of all its subcommands. */
function allOptions({ options = [], subcommands = [] }: Syntax): readonly Option[] {
  return [...options, ...subcommands.flatMap(allOptions)]
}

/** The index of the first word that is neither an option nor the value of one; -1 if there is none. */
function firstWord(argv: readonly string[], options: readonly Option[]): number {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string
    if (word === '--') return -1
    if (!word.startsWith('-')) return index
    const takesNext = options.some(
      ({ name, short, value }) => value !== undefined && (word === `--${name}` || word === `-${short}`),
    )
    if (takesNext) index++
  }
  return -1
}
