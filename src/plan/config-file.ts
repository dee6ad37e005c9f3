import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { RotaError, type Fault } from '../model/errors.js'
import { placeOf, type Key, type PlacedFault } from '../model/faults.js'
import { isMap } from '../model/read-value.js'
import { appNameOf } from './app-name.js'
import { readConfig, type Config } from './config.js'
import { importDefault } from './config-module.js'
import { configNames } from './find-config.js'
import { MAX_CONFIG_BYTES, readJsonText, readYamlText, type ConfigText } from './config-text.js'

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

/** A fault of a config, with where it was written. */
export interface ConfigFault extends Fault {
  /** Such as `rota.config.yaml:12:5`. */
  readonly where: string
}

/** Reads and checks a config file; throws one error with all its faults. */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  if (!existsSync(path)) throw new RotaError('CONFIG_NOT_FOUND', `there is no config file ${path}`)
  const at = { path, directory: dirname(resolve(path)) }
  switch (extname(path)) {
    case '.yaml':
    case '.yml':
      return await loadText(at, readYamlText)
    case '.json':
      return await loadText(at, readJsonText)
    case '.ts':
    case '.js':
    case '.mjs':
      return await loadModule(at)
    default:
      throw new RotaError(
        'CONFIG_INVALID',
        `${path} is not a config file; allowed are ${configNames.join(', ')}`,
      )
  }
}

interface At {
  readonly path: string
  readonly directory: string
}

async function loadText(at: At, read: (text: string) => ConfigText): Promise<LoadedConfig> {
  const text = read(await textOf(at.path))
  const where = (keys: readonly Key[]): string => whereOf(at, text.positionOf(keys))
  const unreadable = text.faults.map((fault) => ({
    fault: { path: '', message: fault.message },
    position: fault,
  }))
  const place = placeOf()
  const config = 'value' in text ? readConfig(text.value, { app: appNameOf(at.directory) }, place) : undefined
  const broken = place.faults.map((fault) => ({ fault, position: text.positionOf(fault.keys) }))
  const all = [...unreadable, ...broken].toSorted(
    (a, b) => a.position.line - b.position.line || a.position.column - b.position.column,
  )
  refuseConfig(
    at,
    all.map(({ fault, position }) => ({ ...plain(fault), where: whereOf(at, position) })),
  )
  return { ...at, kind: 'config', config: config as Config, where }
}

async function textOf(path: string): Promise<string> {
  const bytes = await readFile(path)
  if (bytes.length > MAX_CONFIG_BYTES)
    throw unreadableFile(path, `${bytes.length} bytes, at most ${MAX_CONFIG_BYTES}`)
  if (!isUtf8(bytes)) throw unreadableFile(path, 'not UTF-8')
  return bytes.toString('utf8').replace(/^\ufeff/, '')
}

function unreadableFile(path: string, why: string): RotaError {
  return new RotaError('CONFIG_INVALID', `${path} cannot be read: ${why}`)
}

async function loadModule(at: At): Promise<LoadedConfig> {
  const exported = await exportedBy(at)
  if (exported === undefined) throw unreadableFile(at.path, 'it has no default export')
  if (!isMap(exported)) return { ...at, kind: 'module', exported }
  const place = placeOf()
  const config = readConfig(exported, { app: appNameOf(at.directory) }, place)
  refuseConfig(
    at,
    place.faults.map((fault) => ({ ...plain(fault), where: basename(at.path) })),
  )
  return { ...at, kind: 'config', config: config as Config, where: () => basename(at.path) }
}

async function exportedBy({ path }: At): Promise<unknown> {
  try {
    return await importDefault(resolve(path))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new RotaError('CONFIG_INVALID', `${path} cannot be loaded: ${message}`, { cause: error })
  }
}

function plain({ path, message, allowed }: Fault | PlacedFault): Fault {
  return { path, message, allowed }
}

function whereOf(at: At, { line, column }: { line: number; column: number }): string {
  return `${basename(at.path)}:${line}:${column}`
}

function refuseConfig(at: At, faults: readonly ConfigFault[]): void {
  if (faults.length === 0) return
  const lines = faults.map(({ where, path, message, allowed }) => {
    const what = path === '' ? message : `${path}: ${message}`
    return `  ${where}: ${what}${allowed === undefined ? '' : ` (allowed: ${allowed})`}`
  })
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  throw new RotaError('CONFIG_INVALID', `${at.path} has ${count}:\n${lines.join('\n')}`, { faults })
}
