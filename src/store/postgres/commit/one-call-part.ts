import type { LogLine } from '../../../kernel/run/run.js'
import type { Turn } from '../../port.js'
import type { Catalog } from '../../sql/catalog.js'
import type { RateLook } from './rate-looks.js'
import type { EnqueueRequest } from '../../sql/runs/enqueue.js'

/** One part of the one-call transaction: runs to record, log lines, or a worker's turn. */
export type OneCallPart =
  | { readonly enqueue: EnqueueRequest; readonly log?: undefined; readonly turn?: undefined }
  | { readonly log: readonly LogLine[]; readonly enqueue?: undefined; readonly turn?: undefined }
  | {
      readonly turn: Turn
      /** The definitions by which the turn can be one call. */
      readonly catalog: Catalog
      /** The check for jobs with a rate limit, which the turn does not claim. */
      readonly rateLook?: RateLook | undefined
      readonly enqueue?: undefined
      readonly log?: undefined
    }
