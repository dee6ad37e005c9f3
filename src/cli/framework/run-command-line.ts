import { type Arguments, helpOption, parseArguments } from './arguments.js'
import {
  type Command,
  type CommandEntry,
  dryRunOption,
  exitCodes,
  type Host,
  jsonOption,
  type Surroundings,
  zoneOption,
} from './command.js'
import { openOutput, type PrintStreams } from './print/output.js'
import { outputWidth } from './print/print-stream.js'
import { chooseSubcommand, type Chosen } from './subcommand.js'
import { timesOf } from './times-of.js'

/** A program of commands. */
export interface Program<App> {
  readonly version: () => Promise<string>
  /** The command with a name; loads only what is needed to find it. */
  readonly command: (name: string) => Promise<CommandEntry<App> | undefined>
  /** All commands, in the order of the help. */
  readonly commands: () => Promise<Readonly<Record<string, CommandEntry<App>>>>
  readonly host: (surroundings: Surroundings) => Host<App>
}

/** The surroundings of a command line. */
export interface Place {
  readonly streams: PrintStreams
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly directory: string
}

/** Runs one command line and returns its exit code. */
export async function runCommandLine<App>(
  program: Program<App>,
  argv: readonly string[],
  here: Place,
): Promise<number> {
  const { stdout } = here.streams
  const code = await new CommandLine(program, here).obey(argv)
  // The output of the engine is only its log.
  if (argv[0] === 'up' || code !== exitCodes.ok) return code
  await stdout.settled()
  return stdout.failure === undefined ? code : exitCodes.io
}

class CommandLine<App> {
  readonly #program: Program<App>
  readonly #here: Place

  constructor(program: Program<App>, here: Place) {
    this.#program = program
    this.#here = here
  }

  async obey(argv: readonly string[]): Promise<number> {
    const { streams, environment } = this.#here
    const [name, ...rest] = argv
    try {
      if (name === '--version' || name === '-V') return this.#print([await this.#program.version()])
      if (name === undefined || isHelp(name)) return await this.#help(namesIn(rest))
      return await this.#run(name, rest)
    } catch (error) {
      const { reportFailure } = await import('./failure.js')
      const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
      const out = { stderr: streams.stderr, isJson: options.includes('--json') }
      return reportFailure(error, { out, environment })
    }
  }

  async #run(name: string, argv: readonly string[]): Promise<number> {
    const { environment, directory, streams } = this.#here
    const chosen = await this.#choose(name, argv)
    const args = await parseArguments(chosen)
    const { run } = chosen.command
    if (args.flag(helpOption.name) || run === undefined) return await this.#helpOf(chosen)
    await checkZone(args)
    const isJson = args.flag(jsonOption.name)
    const isDry = args.flag(dryRunOption.name) && (chosen.command.options ?? []).includes(dryRunOption)
    const out = await openOutput({ environment, streams, isJson, isDry, times: () => timesOf({ args }) })
    const surroundings = { args, out, environment, directory }
    const { host, commands } = this.#program
    try {
      return (await run({ ...surroundings, ...host(surroundings), commands })) ?? exitCodes.ok
    } catch (error) {
      const { withOptionOf } = await import('./option-names.js')
      throw withOptionOf(error, chosen.command, args)
    }
  }

  async #choose(name: string, argv: readonly string[]): Promise<Chosen<Command<App>>> {
    const entry = await this.#program.command(name)
    if (entry !== undefined) return chooseSubcommand({ command: await entry.load(), path: name, argv })
    const { unknownCommand } = await import('./usage-error.js')
    throw unknownCommand(name, Object.keys(await this.#program.commands()))
  }

  /** The help of the program, or of the command that words name. */
  async #help([name, ...words]: readonly string[]): Promise<number> {
    if (name !== undefined) return await this.#helpOf(await this.#choose(name, words))
    const { programHelp } = await import('./help.js')
    return this.#print(programHelp(await this.#program.commands(), this.#width()))
  }

  async #helpOf({ command, path }: Chosen<Command<App>>): Promise<number> {
    const { commandHelp } = await import('./help.js')
    return this.#print(commandHelp(command, path, this.#width()))
  }

  #width(): number {
    return Math.min(80, outputWidth(this.#here.environment, this.#here.streams.stdout))
  }

  #print(lines: readonly string[]): number {
    this.#here.streams.stdout.write(`${lines.join('\n')}\n`)
    return exitCodes.ok
  }
}

/** Checks `--zone` for every command, even if this call does not use it. */
async function checkZone(args: Arguments): Promise<void> {
  const zone = args.text(zoneOption.name)
  if (zone === undefined) return
  const [{ readAs }, { zoneOf }] = await Promise.all([
    import('./option-names.js'),
    import('../../time/zone.js'),
  ])
  readAs(`--${zoneOption.name}`, () => zoneOf(zone))
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h' || word === 'help'
}

/** The names of a command and its subcommands among the words after `help`. */
function namesIn(words: readonly string[]): readonly string[] {
  return words.filter((word) => !word.startsWith('-') && !isHelp(word))
}
