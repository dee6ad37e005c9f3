import type { Pulse } from '../../store/overview.js'

/** What a reader may have to read again. */
export type Topic = 'reset' | 'runs' | 'ledger' | 'triggers' | 'holds' | 'workers' | 'state' | 'audit'

const numbers = [
  'epoch',
  'runs',
  'ledger',
  'endedAt',
  'running',
  'claimedAt',
  'jobs',
  'holds',
  'workers',
  'live',
  'stateAt',
  'stateRevisions',
  'audit',
] as const

/** A pulse as text: the id of a message of the stream, and what an `ETag` is made of. */
export function pulseText(pulse: Pulse): string {
  return [pulse.store.slice(0, 8), ...numbers.map((key) => pulse[key].toString(36))].join('.')
}

/** The pulse that a text stands for; nothing where it is none. */
export function readPulse(text: string): Pulse | undefined {
  const [store = '', ...texts] = text.split('.')
  if (texts.length !== numbers.length || !texts.every((one) => /^[0-9a-z]{1,11}$/.test(one))) return undefined
  const values = Object.fromEntries(numbers.map((key, i) => [key, Number.parseInt(texts[i] as string, 36)]))
  return { store, ...values } as unknown as Pulse
}

/** What changed between two pulses. A reader that knew another store, or an older life of this one, reads all again. */
export function topicsBetween(before: Pulse, after: Pulse): ReadonlySet<Topic> {
  if (before.store.slice(0, 8) !== after.store.slice(0, 8) || before.epoch > after.epoch)
    return new Set(['reset'])
  const topics = new Set<Topic>()
  for (const key of numbers) {
    if (before[key] !== after[key]) for (const topic of topicsOf[key]) topics.add(topic)
  }
  return topics
}

/** What each number speaks of. */
const topicsOf: Readonly<Record<(typeof numbers)[number], readonly Topic[]>> = {
  epoch: [],
  runs: ['runs', 'triggers'],
  ledger: ['ledger', 'triggers'],
  endedAt: ['runs'],
  running: ['runs'],
  claimedAt: ['runs'],
  jobs: ['triggers'],
  holds: ['holds', 'triggers'],
  workers: ['workers'],
  live: ['workers'],
  stateAt: ['state'],
  stateRevisions: ['state'],
  // A change by hand may be of anything: a retried run, a trigger that ended, a worker that drains.
  audit: ['audit', 'runs', 'triggers', 'holds', 'workers', 'state'],
}
