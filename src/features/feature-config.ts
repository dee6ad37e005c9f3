import type { ConfigSection, SectionDefinitions } from '../formats/config/config.js'
import type { Place } from '../kernel/definition/faults.js'
import type { AppContext } from './app-context.js'

/** The keys of a config file that a feature reads, and the module that reads them. */
export interface FeatureConfig<Input = object> extends ConfigSection<FeatureDefinitions> {
  /** Never set: only its type is used, which says what the config may have under the keys. */
  readonly input?: Input
}

/** What the sections of a feature define. */
export interface FeatureDefinitions extends SectionDefinitions {
  /** Registers what is neither a job nor a trigger, and adds faults that can be found only now. */
  readonly define?: (app: ConfiguredApp, place: Place) => void | Promise<void>
}

/** What a feature can use of an app that is made from a config. */
export type ConfiguredApp = Pick<
  AppContext,
  'definitions' | 'source' | 'clock' | 'directory' | 'storeUrl' | 'handlerExtensions'
>

/** The config of a feature, whose keys are those of its input. */
export function featureConfig<Input extends object>(
  keys: readonly (keyof Input & string)[],
  load: FeatureConfig['load'],
): FeatureConfig<Input> {
  return { keys, load }
}
