import { resolve } from 'node:path'
import { commonBlackouts, namedCalendars } from '../../engine/sync/calendars.js'
import type { Author } from '../../kernel/audit/change-options.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import type { ConfiguredApp, FeatureDefinitions } from '../../features/feature-config.js'
import type { Feature } from '../../features/feature.js'
import * as features from '../../features/index.js'
import { stepFunctions, type StepFunction } from '../../handlers/pipeline/step-function.js'
import { fileOf, loadConfig, type LoadedConfig } from '../../formats/config/config-file.js'
import { plain, refuseFile } from '../../formats/text-file.js'
import { systemClock } from '../../time/clock.js'
import { programOf } from '../process/program.js'
import { absoluteUrl } from '../../formats/store-url.js'
import { shownUrl } from '../store/open-store.js'
import { defaultStore } from '../rota-options.js'
import { composeApp, insideOf, type App } from '../rota.js'

/** What is said beside a config and counts more than what it says. */
export interface AppOverrides {
  /** The address of the store; a relative path starts at `directory`. */
  readonly store?: string | undefined
  readonly concurrency?: number | undefined
  /** Whether a missing store is created; default: true. */
  readonly create?: boolean | undefined
  /** Who makes the changes that are asked of it; default: the app itself. */
  readonly author?: Author | undefined
  /** The working directory. */
  readonly directory: string
}

/** The app that a config file defines; one that the file made itself is taken as it is. */
export async function loadApp(path: string, overrides: AppOverrides): Promise<App> {
  const loaded = await loadConfig(path, configSections)
  const store = overrides.store === undefined ? undefined : absoluteUrl(overrides.store, overrides.directory)
  if (loaded.kind === 'module') return ownApp(loaded, store)
  const { config, directory, where } = loaded
  const { concurrency = config.settings.concurrency, create = true } = overrides
  const own = { store: store ?? config.store ?? defaultStore, directory, create, clock: systemClock }
  const settings = { ...config.settings, ...own, concurrency }
  const origin = { where, program: programOf(resolve(path)), author: overrides.author }
  const { app, context } = composeApp(settings, `config:${config.app}`, origin)
  await register(loaded, context)
  return app
}

/** Registers what a config defines; throws one error with the faults that show only now. */
async function register(
  { path, config, where }: Extract<LoadedConfig<FeatureDefinitions>, { kind: 'config' }>,
  app: ConfiguredApp,
): Promise<void> {
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
