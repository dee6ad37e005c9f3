import { type Arguments, helpOption, parseArguments } from './arguments.js'
import { type Command, exitCodes, zoneOption } from './command.js'
import { commands, type CommandEntry } from '../commands.js'
import { openOutput, outputWidth, type PrintStreams } from './print/output.js'

/** What a command line is run in. */
export interface Surroundings {
  readonly streams: PrintStreams
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly directory: string
}

/** Runs one command line and gives its exit code. */
export async function runCommandLine(argv: readonly string[], here: Surroundings): Promise<number> {
  const { stdout } = here.streams
  const code = await obey(argv, here)
  // What the engine prints is only its log.
  if (argv[0] === 'up' || code !== exitCodes.ok) return code
  await stdout.settled()
  return stdout.failure === undefined ? code : exitCodes.io
}

async function obey(argv: readonly string[], here: Surroundings): Promise<number> {
  const [name, ...rest] = argv
  try {
    if (name === '--version' || name === '-V') return await printVersion(here)
    if (name === undefined || isHelp(name) || name === 'help') {
      return await printHelp(
        rest.find((word) => !word.startsWith('-')),
        here,
      )
    }
    return await runCommand(name, rest, here)
  } catch (error) {
    const { reportFailure } = await import('./failure.js')
    const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    return reportFailure(error, {
      stderr: here.streams.stderr,
      isJson: options.includes('--json'),
      isDebug: here.environment['ROTA_DEBUG'] === '1',
    })
  }
}

async function runCommand(name: string, argv: readonly string[], here: Surroundings): Promise<number> {
  const command = await (await entryOf(name)).load()
  const args = await parseArguments(command, argv)
  if (args.flag(helpOption.name)) return await printHelp(name, here)
  await checkZone(args)
  const { environment, directory, streams } = here
  const out = await openOutput(environment, streams)
  try {
    return await command.run({ args, out, environment, directory })
  } catch (error) {
    const { withOptionOf } = await import('./option-names.js')
    throw withOptionOf(error, command, args)
  }
}

/** Every command that takes a zone means the same by it, also where it has no use for it this time. */
async function checkZone(args: Arguments): Promise<void> {
  const zone = args.text(zoneOption.name)
  if (zone === undefined) return
  const [{ readAs }, { zoneOf }] = await Promise.all([
    import('./option-names.js'),
    import('../../time/zone.js'),
  ])
  readAs(`--${zoneOption.name}`, () => zoneOf(zone))
}

async function entryOf(name: string): Promise<CommandEntry> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry !== undefined) return entry
  const { unknownCommand } = await import('./usage-error.js')
  throw unknownCommand(name, Object.keys(commands))
}

async function printHelp(name: string | undefined, here: Surroundings): Promise<number> {
  const { commandHelp, programHelp } = await import('./help.js')
  const { stdout } = here.streams
  const width = Math.min(80, outputWidth(here.environment, stdout))
  const command: Command | undefined = name === undefined ? undefined : await (await entryOf(name)).load()
  const lines = command === undefined ? programHelp(commands, width) : commandHelp(command, width)
  stdout.write(`${lines.join('\n')}\n`)
  return exitCodes.ok
}

async function printVersion({ streams }: Surroundings): Promise<number> {
  const { packageVersion } = await import('../../formats/version.js')
  streams.stdout.write(`${packageVersion}\n`)
  return exitCodes.ok
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}
