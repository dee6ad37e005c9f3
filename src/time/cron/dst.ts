import { HOUR_MS } from '../civil.js'
import { TimeError } from '../time-error.js'

/** What happens to fixed local times that clocks skip or show twice. */
export type DstPolicy = keyof typeof meanings

const meanings = {
  vixie:
    'Fixed times that fall into a jump forward of at most three hours run once, right after it; fixed times that come twice run the first time.',
  skip: 'Fixed times that fall into a jump forward do not run; fixed times that come twice run the first time.',
  'real-time':
    'Every instant whose local time matches counts: fixed times that fall into a jump do not run, those that come twice run twice.',
} as const

/**
 * Every policy with its meaning in one sentence. They concern fixed times only: an expression whose second,
 * minute or hour field starts with `*` follows real time under each of them.
 */
export const dstPolicies: Readonly<Record<DstPolicy, string>> = Object.freeze(meanings)

/** A longer jump forward is a skipped day, not daylight saving, and is not caught up. */
export const LONGEST_CAUGHT_UP_MS = 3 * HOUR_MS

/** Throws unless the name is a policy. */
export function assertDstPolicy(name: string): asserts name is DstPolicy {
  if (Object.hasOwn(dstPolicies, name)) return
  throw new TimeError('DST_UNKNOWN', `"${name}" is not a daylight saving policy`, {
    allowed: Object.keys(dstPolicies).join(', '),
  })
}
