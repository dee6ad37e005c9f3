#!/usr/bin/env node
import { helpOption, parseArguments } from './arguments.js'
import { exitCodes } from './command.js'
import { commands, type CommandEntry } from './commands.js'
import { openOutput, outputWidth, type PrintStreams } from './output.js'
import { PrintStream } from './print-stream.js'

/** Runs one command line and gives its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const streams = { stdout: new PrintStream(process.stdout), stderr: new PrintStream(process.stderr) }
  sayIfBroken(streams)
  const code = await obey(argv, streams)
  // What the engine prints is only its log.
  if (argv[0] === 'up' || code !== exitCodes.ok) return code
  await streams.stdout.settled()
  return streams.stdout.failure === undefined ? code : exitCodes.io
}

async function obey(argv: readonly string[], streams: PrintStreams): Promise<number> {
  const [name, ...rest] = argv
  const print = (lines: readonly string[]): void => streams.stdout.write(`${lines.join('\n')}\n`)
  try {
    if (name === '--version' || name === '-V') return await printVersion(print)
    if (name === undefined || isHelp(name) || name === 'help') {
      return await printHelp(
        rest.find((word) => !word.startsWith('-')),
        print,
      )
    }
    return await runCommand(name, rest, { streams, print })
  } catch (error) {
    const { reportFailure } = await import('./failure.js')
    const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    return reportFailure(error, {
      isJson: options.includes('--json'),
      isDebug: process.env['ROTA_DEBUG'] === '1',
    })
  }
}

type Print = (lines: readonly string[]) => void

async function runCommand(
  name: string,
  argv: readonly string[],
  { streams, print }: { readonly streams: PrintStreams; readonly print: Print },
): Promise<number> {
  const command = await (await entryOf(name)).load()
  const args = await parseArguments(command, argv)
  if (args.flag(helpOption.name)) return await printHelp(name, print)
  // The SDK behind an S3 sensor tells everybody on every start which Node it would rather have.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const out = await openOutput(process.env, streams)
  return await command.run({ args, out, environment: process.env, directory: process.cwd() })
}

async function entryOf(name: string): Promise<CommandEntry> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry !== undefined) return entry
  const { unknownCommand } = await import('./usage-error.js')
  throw unknownCommand(name, Object.keys(commands))
}

async function printHelp(name: string | undefined, print: Print): Promise<number> {
  const { commandHelp, programHelp } = await import('./help.js')
  const width = Math.min(80, outputWidth(process.env))
  const lines =
    name === undefined ? programHelp(commands, width) : commandHelp(await (await entryOf(name)).load(), width)
  print(lines)
  return exitCodes.ok
}

async function printVersion(print: Print): Promise<number> {
  const { packageVersion } = await import('../app/version.js')
  print([packageVersion])
  return exitCodes.ok
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

/** A reader that has left early, such as `head`, needs no word; everything else is trouble that somebody should see. */
function sayIfBroken({ stdout, stderr }: PrintStreams): void {
  stdout.broken.addEventListener('abort', () => {
    if (stdout.failure === undefined) return
    stderr.write(`warning: standard output cannot be written: ${stdout.failure.message}\n`)
  })
}

process.exitCode = await main(process.argv.slice(2))
