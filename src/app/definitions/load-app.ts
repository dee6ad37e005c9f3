import { resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import type { StepFunction } from '../../handlers/pipeline/step-function.js'
import { loadConfig, type LoadedConfig } from '../../formats/config-file.js'
import { programOf } from '../process/program.js'
import { absoluteUrl, shownUrl } from '../store/open-store.js'
import { Rota } from '../rota.js'

/** What is said beside a config and counts more than what it says. */
export interface AppOverrides {
  /** The address of the store; a relative path starts at `directory`. */
  readonly store?: string | undefined
  readonly concurrency?: number | undefined
  /** Whether a missing store is created; default: true. */
  readonly create?: boolean | undefined
  /** The working directory. */
  readonly directory: string
}

/** The app that a config file defines; one that the file made itself is taken as it is. */
export async function loadApp(path: string, overrides: AppOverrides): Promise<Rota> {
  const loaded = await loadConfig(path)
  const store = overrides.store === undefined ? undefined : absoluteUrl(overrides.store, overrides.directory)
  if (loaded.kind === 'module') return ownApp(loaded, store)
  const { app: name, jobs, triggers, rounds, sensors, ...others } = loaded.config
  const { assets, schedules, plans = [], steps = {}, ...options } = others
  const concurrency = overrides.concurrency ?? options.concurrency
  const { directory } = loaded
  const app = new Rota(
    {
      ...options,
      app: name,
      directory,
      concurrency,
      store: store ?? options.store,
      create: overrides.create,
    },
    `config:${name}`,
    { where: loaded.where, program: programOf(resolve(path)) },
  )
  for (const [job, input] of Object.entries(jobs)) app.define(job, input)
  for (const [asset, input] of Object.entries(assets)) app.defineAsset(asset, input)
  for (const [step, called] of Object.entries(steps)) app.step(step, called as StepFunction)
  for (const plan of plans) app.plan(plan)
  for (const [trigger, input] of Object.entries(triggers)) app.schedule(trigger, input)
  for (const [name, { asset = name, ...input }] of Object.entries(schedules)) {
    await app.schedule(asset, { ...input, name })
  }
  for (const [round, input] of Object.entries(rounds)) app.round(round, input)
  if (Object.keys(sensors).length > 0) {
    const { defineConfigSensors } = await import('../../features/sensors/from-config.js')
    await defineConfigSensors(app, { ...loaded, sensors })
  }
  return app
}

/** The address of the store of a config file, without opening it. */
export async function storeOfConfig(path: string): Promise<string> {
  const loaded = await loadConfig(path)
  if (loaded.kind === 'module') return ownApp(loaded, undefined).storeUrl
  const { directory, config } = loaded
  return new Rota({ store: config.store, directory }, `config:${config.app}`).storeUrl
}

/** The functions that a config file, or the app it exports, registers for steps of pipelines. */
export async function stepsOfConfig(path: string): Promise<ReadonlyMap<string, StepFunction>> {
  const loaded = await loadConfig(path)
  if (loaded.kind === 'module') return ownApp(loaded, undefined).steps
  return new Map(Object.entries(loaded.config.steps ?? {}) as [string, StepFunction][])
}

function ownApp(loaded: Extract<LoadedConfig, { kind: 'module' }>, store: string | undefined): Rota {
  const { path, exported } = loaded
  if (!isApp(exported)) {
    throw new RotaError('CONFIG_INVALID', `${path} exports neither a config nor an app as its default`)
  }
  if (store === undefined || store === exported.storeUrl) return exported
  throw new RotaError(
    'CONFIG_INVALID',
    `the app of ${path} keeps its store at ${shownUrl(exported.storeUrl)} and cannot be given ${shownUrl(store)}`,
  )
}

/** A config may have found its own copy of this package, so that the class alone does not tell. */
function isApp(value: unknown): value is Rota {
  if (value instanceof Rota) return true
  const { storeUrl, start } = (value ?? {}) as Partial<Rota>
  return typeof storeUrl === 'string' && typeof start === 'function'
}
