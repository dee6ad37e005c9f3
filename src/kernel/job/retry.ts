import { fractionOf } from '../identity/identity.js'

/** How often a run is tried, and the delay in between. */
export interface RetryPolicy {
  /** The number of attempts, including the first. */
  readonly attempts: number
  readonly backoff: 'constant' | 'linear' | 'exponential'
  readonly delayMs: number
  readonly maxDelayMs: number
  /** The random part of the delay: 0 waits exactly, 0.5 waits between half of the delay and all of it. */
  readonly jitter: number
  /** What is not retried: classes and codes of errors, exit codes of commands, statuses of answers. */
  readonly not?: readonly (string | number)[] | undefined
}

/** One attempt without a retry. */
export const noRetry: RetryPolicy = {
  attempts: 1,
  backoff: 'exponential',
  delayMs: 1000,
  maxDelayMs: 3_600_000,
  jitter: 0.2,
}

/** The delay before the next attempt after `failures` failures; derived from the seed, so that it can be recomputed. */
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
