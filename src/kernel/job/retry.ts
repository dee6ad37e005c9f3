import { fractionOf } from '../identity/identity.js'

/** How often a run is tried and how long it waits in between. */
export interface RetryPolicy {
  /** Tries in all, the first one included. */
  readonly attempts: number
  readonly backoff: 'constant' | 'linear' | 'exponential'
  readonly delayMs: number
  readonly maxDelayMs: number
  /** The part of the delay that is drawn: 0 waits exactly, 0.5 waits between half of it and all of it. */
  readonly jitter: number
}

/** One try, and no second. */
export const noRetry: RetryPolicy = {
  attempts: 1,
  backoff: 'exponential',
  delayMs: 1000,
  maxDelayMs: 3_600_000,
  jitter: 0.2,
}

/** The wait before the next try after `failures` failed ones; drawn from the seed, so that it can be recomputed. */
export function retryDelayMs(policy: RetryPolicy, failures: number, seed: string): number {
  const grown = Math.min(policy.maxDelayMs, growth(policy, failures))
  const drawn = grown * policy.jitter * fractionOf(`${seed}#${failures}`)
  return Math.round(grown - drawn)
}

function growth(policy: RetryPolicy, failures: number): number {
  switch (policy.backoff) {
    case 'constant':
      return policy.delayMs
    case 'linear':
      return policy.delayMs * failures
    case 'exponential':
      return policy.delayMs * 2 ** Math.min(failures - 1, 40)
  }
}
