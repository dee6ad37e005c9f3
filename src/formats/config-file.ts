import { basename, dirname, extname, resolve } from 'node:path'
import { RotaError } from '../kernel/definition/errors.js'
import { placeOf, type Key } from '../kernel/definition/faults.js'
import { isMap } from '../kernel/definition/read-value.js'
import { appNameOf } from './app-name.js'
import { readConfig, type Config } from './config.js'
import { importDefault, placeOfSyntaxError } from './config-module.js'
import { checkConfigPath } from './find-config.js'
import { readJsonText, readYamlText, type ConfigText } from './config-text.js'
import {
  loadTextFile,
  MAX_CONFIG_BYTES,
  plain,
  refuseFile,
  unreadableFile,
  type TextFile,
} from './text-file.js'

/** What a config file gave: definitions, or whatever else a module exports, such as an app. */
export type LoadedConfig = {
  readonly path: string
  /** What relative paths in it are relative to. */
  readonly directory: string
} & (
  | {
      readonly kind: 'config'
      readonly config: Config
      /** Where a part of it was written, such as `rota.config.yaml:12:5`; only the file, where it is a module. */
      readonly where: (keys: readonly Key[]) => string
    }
  | { readonly kind: 'module'; readonly exported: unknown }
)

/** Reads and checks a config file; throws one error with all its faults. */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  const at = { path, directory: dirname(resolve(path)) }
  switch (extname(checkConfigPath(path))) {
    case '.yaml':
    case '.yml':
      return await loadText(at, readYamlText)
    case '.json':
      return await loadText(at, readJsonText)
    default:
      return await loadModule(at)
  }
}

interface At {
  readonly path: string
  readonly directory: string
}

async function loadText(at: At, parse: (text: string) => ConfigText): Promise<LoadedConfig> {
  const defaults = { app: appNameOf(at.directory) }
  const { value, where } = await loadTextFile(fileOf(at), parse, (written, place) =>
    readConfig(written, defaults, place),
  )
  return { ...at, kind: 'config', config: value, where }
}

function fileOf({ path }: At): TextFile {
  return { path, code: 'CONFIG_INVALID', maxBytes: MAX_CONFIG_BYTES }
}

async function loadModule(at: At): Promise<LoadedConfig> {
  const exported = await exportedBy(at)
  if (exported === undefined) throw unreadableFile(fileOf(at), 'it has no default export')
  if (!isMap(exported)) return { ...at, kind: 'module', exported }
  const place = placeOf()
  const config = readConfig(exported, { app: appNameOf(at.directory) }, place)
  refuseFile(
    fileOf(at),
    place.faults.map((fault) => ({ ...plain(fault), where: basename(at.path) })),
  )
  return { ...at, kind: 'config', config: config as Config, where: () => basename(at.path) }
}

async function exportedBy({ path }: At): Promise<unknown> {
  try {
    return await importDefault(resolve(path))
  } catch (error) {
    const place = error instanceof SyntaxError ? await placeOfSyntaxError(error, resolve(path)) : undefined
    const told = error instanceof Error ? error.message : String(error)
    const message = place === undefined ? told : `${place}: ${told}`
    throw new RotaError('CONFIG_INVALID', `${path} cannot be loaded: ${message}`, { cause: error })
  }
}
