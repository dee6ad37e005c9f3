import type { Handler } from '../../engine/worker/perform.js'
import type { FeatureConfig } from '../../features/feature-config.js'
import type * as features from '../../features/index.js'
import type { ConfigInput, JobEntry } from '../../formats/config/config.js'
import type { StepFunction } from '../../handlers/pipeline/step-function.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'

/** A config as code writes it: what a file may say, with functions whose arguments have their types. */
export interface ConfigOptions extends Omit<ConfigInput, 'jobs' | 'steps'>, FeatureSections {
  /** Functions that steps of pipelines use, by name. */
  readonly steps?: Readonly<Record<string, StepFunction>> | undefined
  /** What to do, by name. */
  readonly jobs?: Readonly<Record<string, ConfigJob>> | undefined
}

/** The sections that features read. */
export type FeatureSections = Together<InputOf<(typeof features)[keyof typeof features]>>

type InputOf<One> = One extends { readonly config: FeatureConfig<infer Input> } ? Input : never

/** All properties of all members of a union. */
type Together<Union> = { readonly [Key in Union extends object ? keyof Union : never]?: ValueOf<Union, Key> }
type ValueOf<Union, Key> = Union extends { readonly [K in Key & string]?: infer Value } ? Value : never

/** A job of such a config. */
export interface ConfigJob extends Omit<JobEntry, 'handler'> {
  /** A function of this process, or the module that exports one. */
  readonly handler?: ConfigHandler | ModuleInput | undefined
}

/** A method's type, so that a function may ask for the type of its own payload. */
type ConfigHandler = { call(...parameters: Parameters<Handler>): unknown }['call']

/** Gives back a config as it is; an editor then knows what may stand in it. */
export function defineConfig(config: ConfigOptions): ConfigOptions {
  return config
}
