import type { Handler } from '../../engine/worker/perform.js'
import type { FeatureConfig } from '../../features/feature-config.js'
import type * as features from '../../features/index.js'
import type { ConfigInput, JobEntry } from '../../formats/config/config.js'
import type { StepFunction } from '../../handlers/pipeline/step-function.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'

/** A config in code: the same as in a file, with typed functions. */
export interface ConfigOptions extends Omit<ConfigInput, 'jobs' | 'steps'>, FeatureSections {
  /** Functions that steps of pipelines use, by name. */
  readonly steps?: Readonly<Record<string, StepFunction>> | undefined
  /** The jobs, by name. */
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

/** The type of a method, so that a function may declare the type of its own payload. */
type ConfigHandler = { call(...parameters: Parameters<Handler>): unknown }['call']

/** Returns a config unchanged; it gives an editor the types. */
export function defineConfig(config: ConfigOptions): ConfigOptions {
  return config
}
