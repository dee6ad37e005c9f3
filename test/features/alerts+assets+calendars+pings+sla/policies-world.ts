import type { RateLimit } from '../../../src/kernel/job/rate-limit.js'

/** What the config of all policies is made of, and what its judge goes by. */
export interface World {
  readonly fromAt: number
  /** After this nothing is due any more. */
  readonly endAt: number
  /** Where pings and alerts go. */
  readonly url: string
}

/** How many attempts may start in a time, as a config says it. */
export const limits = {
  queue: { max: 30, per: '1s', burst: 4 },
  job: { max: 25, per: '1s', burst: 3 },
  key: { max: 8, per: '1s', burst: 1 },
} as const

/** What the trigger `mailing` and the asset `sums` promise; only the asset promises successes. */
export const promises = { startedWithinMs: 300, finishedWithinMs: 2000, notOlderThanMs: 1000 } as const

/** The days of the asset `sums`, each of which depends on its hours. */
export const days = ['2026-01-01', '2026-01-02'] as const

/** The partitions of the asset `hours` that a day needs. */
export function hoursOfDay(day: string): readonly string[] {
  return Array.from({ length: 24 }, (_, hour) => `${day}T${String(hour).padStart(2, '0')}:00Z`)
}

/** Times after the start of the test, in whole seconds. */
export const stretches = {
  break: { fromMs: 1000, untilMs: 3000 },
  blackout: { fromMs: 2000, untilMs: 4000 },
  open: { fromMs: 0, untilMs: 5000 },
} as const

const catchUps = ['skip', 'latest', 'all'] as const
const overlaps = ['allow', 'skip', 'queue-one', 'queue-all', 'cancel-running', 'terminate-running'] as const

/** Each catch-up with each overlap; the trigger of a pair has the name of both. */
export const pairs = catchUps.flatMap((mode) =>
  overlaps
    .filter((overlap) => mode !== 'all' || overlap !== 'skip')
    .map((overlap) => [mode, overlap] as const),
)

/** Whether a calendar or blackout of the config excludes an instant of the trigger with this number. */
export function isExcluded(index: number, ms: number): boolean {
  const isIn = (name: keyof typeof stretches): boolean =>
    stretches[name].fromMs <= ms && ms < stretches[name].untilMs
  return [false, isIn('break'), isIn('blackout'), isIn('blackout') || !isIn('open')][index % 4] ?? false
}

/** A limit of the config as the store has it. */
export function rateOf({ max, burst }: (typeof limits)[keyof typeof limits]): RateLimit {
  return { max, perMs: 1000, burst }
}
