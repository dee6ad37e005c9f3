import { relative, resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import { checkConfigPath, configIn, findConfig } from '../../formats/config/find-config.js'
import { configOption, type Surroundings } from '../framework/command.js'
import { readAs } from '../framework/option-names.js'

/** The config to use: the named one, otherwise the nearest upwards; prints its path if it is in another directory. */
export function configOf(context: Surroundings): string | undefined {
  const { directory } = context
  const named = namedConfig(context)
  if (named !== undefined) return named
  const found = findConfig(directory)
  if (found !== undefined && found !== configIn(resolve(directory))) printConfigPath(context, found)
  return found
}

/** The config that was named on the command line. */
export function namedConfig({ args, directory }: Surroundings): string | undefined {
  const named = args.text(configOption.name)
  if (named === undefined) return undefined
  return readAs(`--${configOption.name}`, () => checkConfigPath(resolve(directory, named)))
}

/** Prints which config is used, because it is not in the working directory. */
function printConfigPath({ out, directory }: Surroundings, path: string): void {
  if (!out.isJson) out.note(`config: ${relative(directory, path)}`)
}

/** The error for a command that needs a config. */
export function noConfig({ directory }: Surroundings, hint: string): RotaError {
  const message = `there is no rota.config.* in ${directory} or above it${hint}`
  return new RotaError('CONFIG_NOT_FOUND', message)
}
