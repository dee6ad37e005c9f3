import type { LogLine } from '../../../kernel/run/run.js'
import type { Turn } from '../../port.js'
import type { Catalog } from '../../sql/catalog.js'
import type { RateLook } from './rate-looks.js'
import type { EnqueueRequest } from '../../sql/runs/enqueue.js'

/** One piece of the usual transaction: runs to be recorded, lines of logs, or a worker's turn. */
export type OneCallPart =
  | { readonly enqueue: EnqueueRequest; readonly log?: undefined; readonly turn?: undefined }
  | { readonly log: readonly LogLine[]; readonly enqueue?: undefined; readonly turn?: undefined }
  | {
      readonly turn: Turn
      /** By which it was found to be usual. */
      readonly catalog: Catalog
      /** What to look for of jobs with a rate limit, which the turn does not ask for. */
      readonly rateLook?: RateLook | undefined
      readonly enqueue?: undefined
      readonly log?: undefined
    }
