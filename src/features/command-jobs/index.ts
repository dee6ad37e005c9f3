import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Commands } from './api.js'
import { feature } from './feature.js'

export type { JobsFileCheck } from './api.js'
export type { AddJob } from './command-jobs.js'
export type { ImportOptions, ImportedLine } from './import.js'
export type { CommandJobInfo } from './state.js'

/** The feature `command-jobs`. */
export const commands = {
  ...feature,
  api: (context: AppContext) => new Commands(context),
} as const satisfies AppFeature
