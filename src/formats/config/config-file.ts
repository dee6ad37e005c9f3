import { basename, dirname, extname, resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf, type Key } from '../../kernel/definition/faults.js'
import { isMap } from '../../kernel/definition/read-value.js'
import { appNameOf } from '../app-name.js'
import {
  readConfig,
  type Config,
  type ConfigReading,
  type ConfigSection,
  type SectionDefinitions,
} from './config.js'
import { importDefault, placeOfSyntaxError } from './config-module.js'
import { checkConfigPath } from './find-config.js'
import { readJsonText, readYamlText, type ConfigText } from './config-text.js'
import {
  checkText,
  MAX_CONFIG_BYTES,
  plain,
  refuseFile,
  textOf,
  unreadableFile,
  type TextFile,
} from '../text-file.js'

/** The content of a config file: definitions, or another export of a module, such as an app. */
export type LoadedConfig<Section extends SectionDefinitions = SectionDefinitions> = ConfigPath &
  (
    | {
        readonly kind: 'config'
        readonly config: Config<Section>
        /** Where a part of it was written, such as `rota.config.yaml:12:5`; for a module only the file. */
        readonly where: (keys: readonly Key[]) => string
      }
    | { readonly kind: 'module'; readonly exported: unknown }
  )

interface ConfigPath {
  readonly path: string
  /** The base of relative paths in it. */
  readonly directory: string
}

/** Reads a config file; throws one error with all its faults. `isAgain`: this process has read it before. */
export async function loadConfig<Section extends SectionDefinitions>(
  path: string,
  sections: readonly ConfigSection<Section>[],
  options: { readonly isAgain?: boolean } = {},
): Promise<LoadedConfig<Section>> {
  const at = { path, directory: dirname(resolve(path)) }
  switch (extname(checkConfigPath(path))) {
    case '.yaml':
    case '.yml':
      return await loadText(at, readYamlText, sections)
    case '.json':
      return await loadText(at, readJsonText, sections)
    default:
      return await loadModule(at, sections, options)
  }
}

async function loadText<Section extends SectionDefinitions>(
  at: ConfigPath,
  parse: (text: string) => ConfigText,
  sections: readonly ConfigSection<Section>[],
): Promise<LoadedConfig<Section>> {
  const text = parse(await textOf(fileOf(at)))
  const reading = await readingOf(text.value, at, sections)
  const { value, where } = checkText(fileOf(at), text, (written, place) =>
    readConfig(written, reading, place),
  )
  return { ...at, kind: 'config', config: value, where }
}

/** The file of a config, for errors about its faults. */
export function fileOf({ path }: { readonly path: string }): TextFile {
  return { path, code: 'CONFIG_INVALID', maxBytes: MAX_CONFIG_BYTES }
}

async function loadModule<Section extends SectionDefinitions>(
  at: ConfigPath,
  sections: readonly ConfigSection<Section>[],
  options: { readonly isAgain?: boolean },
): Promise<LoadedConfig<Section>> {
  const exported = await exportedBy(at, options)
  if (exported === undefined) throw unreadableFile(fileOf(at), 'it has no default export')
  if (!isMap(exported)) return { ...at, kind: 'module', exported }
  const place = placeOf()
  const config = readConfig(exported, await readingOf(exported, at, sections), place)
  refuseFile(
    fileOf(at),
    place.faults.map((fault) => ({ ...plain(fault), where: basename(at.path) })),
  )
  return { ...at, kind: 'config', config: config as Config<Section>, where: () => basename(at.path) }
}

async function readingOf<Section extends SectionDefinitions>(
  value: unknown,
  { directory }: ConfigPath,
  sections: readonly ConfigSection<Section>[],
): Promise<ConfigReading<Section>> {
  const written = isMap(value) ? value : {}
  const needed = sections.filter(({ keys }) => keys.some((key) => written[key] !== undefined))
  const modules = await Promise.all(needed.map(({ load }) => load()))
  return {
    app: appNameOf(directory),
    directory,
    sectionKeys: sections.flatMap(({ keys }) => keys),
    readers: modules.map(({ readSection }) => readSection),
  }
}

async function exportedBy({ path }: ConfigPath, options: { readonly isAgain?: boolean }): Promise<unknown> {
  try {
    return await importDefault(resolve(path), options)
  } catch (error) {
    const place = error instanceof SyntaxError ? await placeOfSyntaxError(error, resolve(path)) : undefined
    const told = error instanceof Error ? error.message : String(error)
    const message = place === undefined ? told : `${place}: ${told}`
    throw new RotaError('CONFIG_INVALID', `${path} cannot be loaded: ${message}`, { cause: error })
  }
}
