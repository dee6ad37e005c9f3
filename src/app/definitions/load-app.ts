import { resolve } from 'node:path'
import { commonBlackouts, namedCalendars } from '../../engine/sync/calendars.js'
import type { Author } from '../../kernel/audit/change-options.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import type { ConfiguredApp, FeatureDefinitions } from '../../features/feature-config.js'
import type { AppContext } from '../../features/app-context.js'
import type { Feature } from '../../features/feature.js'
import * as features from '../../features/index.js'
import { stepFunctions, type StepFunction } from '../../handlers/pipeline/step-function.js'
import { fileOf, loadConfig, type LoadedConfig } from '../../formats/config/config-file.js'
import { plain, refuseFile } from '../../formats/text-file.js'
import { systemClock } from '../../time/clock.js'
import { programOf } from '../process/program.js'
import { absoluteUrl, defaultStore } from '../../formats/store-url.js'
import { shownUrl } from '../store/store-address.js'
import type { ReadAgain, Reread } from '../reload/read-again.js'
import type { Settings } from '../rota-options.js'
import { composeApp, insideOf, type App } from '../rota.js'

/** Options that override those of a config. */
export interface AppOverrides {
  /** The address of the store; a relative path starts at `directory`. */
  readonly store?: string | undefined
  readonly concurrency?: number | undefined
  /** Whether a missing store is created; default: true. */
  readonly create?: boolean | undefined
  /** The actor of its changes; default: the app itself. */
  readonly author?: Author | undefined
  /** The working directory. */
  readonly directory: string
  /** Adds the definitions of the command line, each time the config is read. */
  readonly define?: ((app: App) => void) | undefined
}

type LoadedDefinitions = Extract<LoadedConfig<FeatureDefinitions>, { kind: 'config' }>

/** The app of a config file; an app that the file itself created is used unchanged. */
export async function loadApp(path: string, overrides: AppOverrides): Promise<App> {
  const loaded = await loadConfig(path, configSections)
  if (loaded.kind === 'config') {
    const readAgain: ReadAgain = (running) => rereadConfig(path, overrides, running)
    return (await composeLoaded(loaded, { overrides, settings: settingsOf(loaded, overrides), readAgain }))
      .app
  }
  const app = ownApp(loaded, storeIn(overrides))
  overrides.define?.(app)
  return app
}

/** Creates the app of a config. */
async function composeLoaded(
  loaded: LoadedDefinitions,
  given: {
    readonly overrides: AppOverrides
    readonly settings: Settings
    readonly readAgain?: ReadAgain | undefined
  },
): Promise<{ readonly app: App; readonly context: AppContext }> {
  const { overrides, settings, readAgain } = given
  const { path, config, where } = loaded
  const origin = { where, program: programOf(resolve(path)), author: overrides.author, readAgain }
  const composed = composeApp(settings, `config:${config.app}`, origin)
  await register(loaded, composed.context)
  overrides.define?.(composed.app)
  return composed
}

/** Reads a config again as a start would; the app that it creates is only compared, and never started. */
async function rereadConfig(
  path: string,
  overrides: AppOverrides,
  running: Parameters<ReadAgain>[0],
): Promise<Reread> {
  const loaded = await loadConfig(path, configSections, { isAgain: true })
  if (loaded.kind === 'module') throw new RotaError('CONFIG_INVALID', `${path} no longer exports a config`)
  const settings = settingsOf(loaded, overrides)
  const here = { ...settings, store: running.storeUrl, clock: running.clock }
  const { context } = await composeLoaded(loaded, { overrides, settings: here })
  const { config, where } = loaded
  return { config: path, source: `config:${config.app}`, registry: context.definitions, settings, where }
}

function settingsOf({ config, directory }: LoadedDefinitions, overrides: AppOverrides): Settings {
  const { concurrency = config.settings.concurrency, create = true } = overrides
  const store = storeIn(overrides) ?? config.store ?? defaultStore
  return { ...config.settings, store, directory, create, clock: systemClock, concurrency }
}

function storeIn({ store, directory }: AppOverrides): string | undefined {
  return store === undefined ? undefined : absoluteUrl(store, directory)
}

/** Registers the definitions of a config; throws one error with the faults that are found only now. */
async function register({ path, config, where }: LoadedDefinitions, app: ConfiguredApp): Promise<void> {
  const { definitions } = app
  for (const [name, step] of config.steps) definitions.part(stepFunctions).set(name, step as StepFunction)
  for (const [name, times] of config.calendars) definitions.part(namedCalendars).set(name, times)
  const common = definitions.part(commonBlackouts)
  common.timezone = config.blackouts.timezone
  common.list.push(...config.blackouts.list)
  for (const defined of [config.definitions, ...config.sections]) definitions.add(defined)
  const place = placeOf()
  for (const section of config.sections) await section.define?.(app, place)
  refuseFile(
    fileOf({ path }),
    place.faults.map((fault) => ({ ...plain(fault), where: where(fault.keys) })),
  )
}

/** The address of the store of a config file, without opening it. */
export async function storeOfConfig(path: string): Promise<string> {
  const loaded = await loadConfig(path, configSections)
  if (loaded.kind === 'module') return ownApp(loaded, undefined).storeUrl
  return absoluteUrl(loaded.config.store ?? defaultStore, loaded.directory)
}

/** The functions that a config file, or the app it exports, registers for steps of pipelines. */
export async function stepsOfConfig(path: string): Promise<ReadonlyMap<string, StepFunction>> {
  const loaded = await loadConfig(path, configSections)
  if (loaded.kind === 'module') return ownApp(loaded, undefined).pipelineSteps
  return loaded.config.steps as ReadonlyMap<string, StepFunction>
}

/** The sections of a config that features read. */
export const configSections = Object.values(features).flatMap((feature: Feature) => feature.config ?? [])

function ownApp(loaded: Extract<LoadedConfig, { kind: 'module' }>, store: string | undefined): App {
  const { path, exported } = loaded
  const app = insideOf(exported)
  if (app === undefined) {
    throw new RotaError('CONFIG_INVALID', `${path} exports neither a config nor an app as its default`)
  }
  if (store === undefined || store === app.storeUrl) return app
  throw new RotaError(
    'CONFIG_INVALID',
    `the app of ${path} keeps its store at ${shownUrl(app.storeUrl)} and cannot be given ${shownUrl(store)}`,
  )
}
