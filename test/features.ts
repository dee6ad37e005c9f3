import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './repository.js'

/** All features. Tests must pass without any one of them, so they ask which ones exist. */
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

/** Whether the folders of these features exist. */
export function hasFeatures(...names: readonly FeatureName[]): boolean {
  return names.every((name) => existsSync(join(root, 'src/features', name)))
}

/** Whether every feature exists, so that a page about all of them can be compared exactly. */
export const isWhole = hasFeatures(...featureNames)

/** Whether a path of the repository is in the folder of a removed feature. */
export function isOfAbsentFeature(path: string): boolean {
  return featureNames.some((name) => path.startsWith(`src/features/${name}/`) && !hasFeatures(name))
}
