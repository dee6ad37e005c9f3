import type { Handler } from '../engine/perform.js'
import type { StepFunction } from '../handlers/step-function.js'
import type { JobInput, ModuleInput } from '../model/define.js'
import type { ConfigInput } from '../plan/config.js'

/** A config as code writes it: what a file may say, with functions whose arguments have their types. */
export interface ConfigOptions extends Omit<ConfigInput, '$schema' | 'jobs' | 'steps'> {
  /** Functions that steps of pipelines use, by name. */
  readonly steps?: Readonly<Record<string, StepFunction>> | undefined
  /** What there is to do, by name. */
  readonly jobs?: Readonly<Record<string, ConfigJob>> | undefined
}

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
