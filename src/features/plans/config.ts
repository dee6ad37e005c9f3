import { definitionFiles } from '../../engine/sync/definition-files.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import type { Written } from '../../kernel/definition/read-value.js'
import type { FeatureDefinitions } from '../feature-config.js'

/** What a config may say about plans. */
export interface PlansConfig {
  /** Plan files whose entries are performed when they are due, relative to the config file. */
  readonly plans?: readonly string[] | undefined
}

/** Reads which plan files a config names. */
export function readSection({ plans }: Written, whole: Place): FeatureDefinitions {
  if (!Array.isArray(plans) || !plans.every((path) => typeof path === 'string' && path !== '')) {
    const place = within(whole, 'plans')
    fault(place, `${shown(plans)} is not a list of plan files`, 'a list such as [schedule_plan.yaml]')
    return {}
  }
  const paths: readonly string[] = [...plans]
  return { define: ({ definitions }) => void definitions.part(definitionFiles).push(...paths) }
}
