import type { Handler } from '../../engine/worker/perform.js'
import type { StepFunction } from '../../handlers/pipeline/step-function.js'
import type { AssetOptions } from '../../features/assets/definition.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'
import type { ConfigInput } from '../../formats/config.js'
import type { ConfigSensorInput } from '../../features/sensors/config.js'
import type { AssetRun } from '../../features/assets/asset-run.js'
import type { AppSensorOptions } from '../../features/sensors/api.js'

/** A config as code writes it: what a file may say, with functions whose arguments have their types. */
export interface ConfigOptions
  extends Omit<ConfigInput, '$schema' | 'jobs' | 'steps' | 'sensors' | 'assets'> {
  /** Functions that steps of pipelines use, by name. */
  readonly steps?: Readonly<Record<string, StepFunction>> | undefined
  /** What there is to do, by name. */
  readonly jobs?: Readonly<Record<string, ConfigJob>> | undefined
  /** What looks at the outside and triggers runs for what is new, by name. */
  readonly sensors?: Readonly<Record<string, ConfigSensor>> | undefined
  /** Data that is made in partitions, and what it is made from, by name. */
  readonly assets?: Readonly<Record<string, ConfigAsset>> | undefined
}

/** An asset of such a config. */
export interface ConfigAsset extends ConfigJob, AssetOptions {
  /** A function of this process that makes one partition; or what a job has. */
  readonly materialize?: { call(run: AssetRun): unknown }['call'] | undefined
}

/** A sensor of such a config: one that code made, or one of a built-in type with its settings. */
export type ConfigSensor = AppSensorOptions<never, never> | ConfigSensorInput

/** A job of such a config. */
export interface ConfigJob extends Omit<JobInput, 'handler'> {
  /** A function of this process, or the module that exports one. */
  readonly handler?: ConfigHandler | ModuleInput | undefined
}

/** A method's type, so that a function may ask for the type of its own payload. */
type ConfigHandler = { call(...parameters: Parameters<Handler>): unknown }['call']

/** Gives back a config as it is; an editor then knows what may stand in it. */
export function defineConfig(config: ConfigOptions): ConfigOptions {
  return config
}
