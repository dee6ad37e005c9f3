import type { Job } from '../../kernel/job/job.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { SyncReport } from './sync.js'

/** The files besides its code and config from which an app reads definitions. */
export function definitionFiles(): string[] {
  return []
}

/** Reads such files. Each is a source of its own; its definitions end when no app lists the file any more. */
export type ReadDefinitionFiles = (app: {
  readonly paths: readonly string[]
  /** The source of the app's own definitions. */
  readonly source: string
  readonly directory: string
  readonly jobs: readonly Job[]
  readonly now: Instant
}) => Promise<FileDefinitions>

/** The definitions of files, before they are written. */
export interface FileDefinitions {
  /** The pipeline files that their runs execute. */
  readonly pipelines: readonly string[]
  /** The sources that the app no longer lists. */
  vanished(store: Store): Promise<readonly string[]>
  /** Makes the definitions in the store equal to those of the files. */
  sync(store: Store, now: Instant): Promise<readonly SyncReport[]>
}
