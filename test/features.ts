import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './repository.js'

/** The features of the whole tree. Tests pass without any one of them, so they ask which are there. */
export const featureNames = [
  'alerts',
  'assets',
  'bulk',
  'bus',
  'calendars',
  'command-jobs',
  'isolation',
  'pings',
  'plans',
  'rounds',
  'sensors',
  'sla',
] as const

/** The name of a feature, which is that of its folder. */
export type FeatureName = (typeof featureNames)[number]

/** Whether the folders of these features are there. */
export function hasFeatures(...names: readonly FeatureName[]): boolean {
  return names.every((name) => existsSync(join(root, 'src/features', name)))
}

/** Whether every feature is there, so that a page about all of them can be compared word for word. */
export const isWhole = hasFeatures(...featureNames)

/** Whether a path of the repository lies in the folder of a feature that is not there. */
export function isOfAbsentFeature(path: string): boolean {
  return featureNames.some((name) => path.startsWith(`src/features/${name}/`) && !hasFeatures(name))
}
