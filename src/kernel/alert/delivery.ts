import type { Job } from '../job/job.js'

/**
 * How runs that tell somebody outside are queued and retried, in alerts and pings. A receiver that is unreachable for 50
 * minutes loses nothing: the last five delays are ten minutes each, less the jitter. What a run sends is most needed when
 * workers crash one after another, so it is not given up after a few of them.
 */
export const deliveryRules = {
  queue: 'alerts',
  retry: { attempts: 16, backoff: 'exponential', delayMs: 1000, maxDelayMs: 600_000, jitter: 0.2 },
  maxCrashes: 100,
} as const satisfies Partial<Job>
