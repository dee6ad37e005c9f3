#!/usr/bin/env node
import { helpOption, parseArguments } from './arguments.js'
import { exitCodes } from './command.js'
import { commands, type CommandEntry } from './commands.js'
import { openOutput, outputWidth } from './output.js'

/** Runs one command line and gives its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  ignoreClosedPipe(name)
  try {
    if (name === '--version' || name === '-V') return await printVersion()
    if (name === undefined || isHelp(name) || name === 'help') {
      return await printHelp(rest.find((word) => !word.startsWith('-')))
    }
    return await runCommand(name, rest)
  } catch (error) {
    const { reportFailure } = await import('./failure.js')
    const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    return reportFailure(error, {
      isJson: options.includes('--json'),
      isDebug: process.env['ROTA_DEBUG'] === '1',
    })
  }
}

async function runCommand(name: string, argv: readonly string[]): Promise<number> {
  const command = await (await entryOf(name)).load()
  const args = await parseArguments(command, argv)
  if (args.flag(helpOption.name)) return await printHelp(name)
  // The SDK behind an S3 sensor tells everybody on every start which Node it would rather have.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const out = await openOutput(process.env)
  return await command.run({ args, out, environment: process.env, directory: process.cwd() })
}

async function entryOf(name: string): Promise<CommandEntry> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry !== undefined) return entry
  const { unknownCommand } = await import('./usage-error.js')
  throw unknownCommand(name, Object.keys(commands))
}

async function printHelp(name: string | undefined): Promise<number> {
  const { commandHelp, programHelp } = await import('./help.js')
  const width = Math.min(80, outputWidth(process.env))
  const lines =
    name === undefined ? programHelp(commands, width) : commandHelp(await (await entryOf(name)).load(), width)
  process.stdout.write(`${lines.join('\n')}\n`)
  return exitCodes.ok
}

async function printVersion(): Promise<number> {
  const { packageVersion } = await import('../app/version.js')
  process.stdout.write(`${packageVersion}\n`)
  return exitCodes.ok
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

/** A reader such as `head` may leave early; only the engine has something to go on with then. */
function ignoreClosedPipe(name: string | undefined): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (name !== 'up') process.exit(exitCodes.ok)
  })
}

process.exitCode = await main(process.argv.slice(2))
