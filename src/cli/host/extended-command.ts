import type { App } from '../../app/rota.js'
import type { CommandExtension } from '../../features/command-extension.js'
import type { Feature } from '../../features/feature.js'
import { findFeatures } from '../../features/find-features.js'
import type { Command, Context, Ended } from '../framework/command.js'
import { usageError } from '../framework/usage-error.js'

/** A command with the extension of a feature. */
export async function extendedCommand(command: Command<App>): Promise<Command<App>> {
  const features: readonly Feature[] = findFeatures()
  const load = features.find(({ extensions }) => extensions?.[command.name] !== undefined)?.extensions?.[
    command.name
  ]
  return load === undefined ? command : withExtension(command, (await load()) as CommandExtension<App>)
}

function withExtension(command: Command<App>, extension: CommandExtension<App>): Command<App> {
  const { options = [], arguments: words = [] } = command
  const names = new Set(options.map(({ name }) => name))
  return {
    ...command,
    about: `${command.about} ${extension.about}`,
    arguments: words.map((word) => ({ ...word, isOptional: true })),
    options: [...extension.options.filter(({ name }) => !names.has(name)), ...options],
    examples: { ...command.examples, ...extension.examples },
    run: (context) => runEither(command, extension, context),
  }
}

async function runEither(
  command: Command<App>,
  extension: CommandExtension<App>,
  context: Context<App>,
): Ended {
  const { name, arguments: [first] = [] } = command
  const hasWord = context.args.optionalWord(0) !== undefined
  const isMeant = extension.isMeant(context)
  const path = `<${first?.name}>`
  const hint = `see \`rota ${name} --help\``
  if (isMeant && hasWord)
    throw usageError([{ path, message: `${path} and a filter are given`, allowed: 'one of them' }], hint)
  if (isMeant) return await context.withApp((app) => extension.run(app, context))
  if (!hasWord)
    throw usageError([{ path, message: `missing argument ${path}`, allowed: 'it, or a filter' }], hint)
  // An option such as --dry-run must not be ignored silently.
  const own = new Set(command.options?.map((option) => option.name))
  const stray = extension.options.find((option) => !own.has(option.name) && context.args.flag(option.name))
  if (stray !== undefined) {
    const message = `\`--${stray.name}\` works only with a filter`
    throw usageError([{ path: `--${stray.name}`, message }], hint)
  }
  return await command.run?.(context)
}
