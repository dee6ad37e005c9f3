import type { Pulse } from '../../store/overview.js'

/** A part of the data that a reader may have to read again. */
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

/** Formats a pulse: the id of a message of the stream, and the base of an `ETag`. */
export function pulseText(pulse: Pulse): string {
  return [pulse.store.slice(0, 8), ...numbers.map((key) => pulse[key].toString(36))].join('.')
}

/** Parses a pulse; undefined if the text is not one. */
export function readPulse(text: string): Pulse | undefined {
  const [store = '', ...texts] = text.split('.')
  if (texts.length !== numbers.length || !texts.every((one) => /^[0-9a-z]{1,11}$/.test(one))) return undefined
  const values = Object.fromEntries(numbers.map((key, i) => [key, Number.parseInt(texts[i] as string, 36)]))
  return { store, ...values } as unknown as Pulse
}

/** What changed between two pulses. If it is another store, or it went back in time, everything is read again. */
export function topicsBetween(before: Pulse, after: Pulse): ReadonlySet<Topic> {
  if (before.store.slice(0, 8) !== after.store.slice(0, 8) || before.epoch > after.epoch)
    return new Set(['reset'])
  const topics = new Set<Topic>()
  for (const key of numbers) {
    if (before[key] !== after[key]) for (const topic of topicsOf[key]) topics.add(topic)
  }
  return topics
}

/** The topics of each number. */
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
  // A manual change may affect anything: a retried run, an ended trigger, a draining worker.
  audit: ['audit', 'runs', 'triggers', 'holds', 'workers', 'state'],
}
