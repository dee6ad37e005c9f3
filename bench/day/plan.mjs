// The load of a company's hour, the same for every system: what is due when, with which policy, and what is enqueued.
// Nothing here is random, so two systems get the same hour.

/** The intervals of the triggers in minutes, and how many of a thousand have each. */
const intervals = [
  { minutes: 1, share: 100 },
  { minutes: 5, share: 300 },
  { minutes: 15, share: 400 },
  { minutes: 60, share: 200 },
]
const overlaps = ['skip', 'skip', 'allow', 'queue-one', 'queue-all']
const kinds = ['quick', 'log', 'log', 'flaky', 'slow']
const priorities = [0, 0, 0, 5, 10]
const customers = 500

/** The triggers of an hour that is compressed to `seconds`. Half of them are due at the start of the interval. */
export function triggersOf(count, seconds) {
  return Array.from({ length: count }, (_, i) => {
    const everyMs = Math.round((minutesOf((i * 7919) % 1000) * 60_000 * seconds) / 3600)
    return {
      name: `trigger-${i}`,
      everyMs,
      offsetMs: i % 2 === 0 ? 0 : (i * 104_729) % everyMs,
      kind: kinds[i % kinds.length],
      overlap: overlaps[(i >> 1) % overlaps.length],
      priority: priorities[(i >> 2) % priorities.length],
    }
  })
}

/** The run that a request of a customer enqueues. */
export function requestOf(i) {
  return {
    kind: kinds[(i * 3) % kinds.length],
    key: `customer-${(i * 31) % customers}`,
    priority: priorities[i % priorities.length],
  }
}

/** How often a trigger is due within the hour. */
export function timesDue({ everyMs, offsetMs }, seconds) {
  return Math.max(0, Math.ceil((seconds * 1000 - offsetMs) / everyMs))
}

/** The work of the jobs: some write a log, some fail at first in one of ten cases, some take 20 ms. */
export async function work(kind, { number, attempt, log }) {
  if (kind === 'log') {
    log(`began number ${number}`)
    log(`did number ${number}`)
  }
  if (kind === 'slow') await new Promise((resolve) => setTimeout(resolve, 20))
  if (kind === 'flaky' && attempt === 1 && number % 10 === 0)
    throw new Error(`number ${number} fails at first`)
}

export const jobKinds = ['quick', 'log', 'flaky', 'slow']

function minutesOf(place) {
  let sum = 0
  for (const { minutes, share } of intervals) {
    sum += share
    if (place < sum) return minutes
  }
  return 60
}
