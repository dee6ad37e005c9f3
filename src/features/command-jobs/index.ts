import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Commands } from './api.js'
import { feature } from './feature.js'
import type * as jobs from './state.js'

export type { JobsFileCheck } from './api.js'
export type { AddJob } from './command-jobs.js'
export type { ImportOptions, ImportedLine } from './transfer/import.js'

/** A command job in the store. */
export type CommandJobInfo = Dated<jobs.CommandJobInfo>

/** The feature `command-jobs`. */
export const commands = {
  ...feature,
  api: (context: AppContext) => new Commands(context),
} as const satisfies AppFeature
