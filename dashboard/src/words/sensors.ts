/** Words of the pages of sensors. */
import { formatCount } from '../data/format.js'

/** The words. */
export const words = {
  title: 'Sensors',
  list: 'All sensors',
  columns: {
    state: 'state',
    name: 'sensor',
    type: 'type',
    last: 'last result',
    found: 'found',
    every: 'every',
    next: 'next poll',
  },
  conditions: {
    waiting: 'waits',
    ok: 'works',
    failing: 'failing',
    broken: 'broken',
    paused: 'paused',
    off: 'off',
    ended: 'ended',
  },
  kinds: {
    trigger: 'found something',
    'no-trigger': 'found nothing',
    error: 'failed',
    delivered: 'delivered',
  },
  never: 'not polled yet',
  delivered: 'others deliver',
  missing: {
    title: (name: string) => `There is no sensor ${name}.`,
    list: 'All sensors',
  },
  typeOf: (type: string) => `Sensor of the type ${type}`,
  starts: 'starts the job',
  trigger: 'its trigger',
  noPoll: 'Others deliver to this sensor; there is nothing to poll.',
  actions: { preview: 'Preview…', reset: 'Reset…', pause: 'Pause…', resume: 'Resume…' },
  facts: {
    title: 'Facts',
    every: 'every',
    timeout: 'timeout',
    next: 'next poll',
    polling: 'polling since',
    polls: 'polls',
    found: 'found',
    failures: 'failures in a row',
    pauseAfter: 'pauses after',
    failuresInRow: (count: number) => `${formatCount(count)} failures in a row`,
    lag: 'polled late by',
    lastPoll: 'last poll',
    lastSuccess: 'last success',
    lastFound: 'last found',
    dedupe: 'duplicates by',
    timezone: 'zone',
  },
  state: { title: 'What it remembers', none: 'Nothing: it starts again with the next poll.' },
  evaluations: {
    title: 'Polls and deliveries',
    none: 'Nothing has been polled or delivered yet.',
    at: 'at',
    kind: 'result',
    reason: 'reason',
    found: 'new / seen',
    took: 'took',
    times: (count: number) => `${formatCount(count)} times in a row`,
    older: 'Show older ones',
  },
  preview: {
    title: (name: string) => `What does ${name} see now?`,
    text: 'The sensor was polled once. Nothing was started and nothing is remembered.',
    found: (count: number, isMore: boolean) => `Found ${formatCount(count)}${isMore ? ' and more' : ''}`,
    state: 'What it would remember',
    again: 'Poll again',
  },
  reset: {
    title: (name: string) => `Reset ${name}?`,
    text: 'It forgets its position, and checks everything again with the next poll.',
    keys: 'Things that it has seen',
    keep: 'stay known: they start nothing again',
    forget: 'are forgotten: they start their job again',
    forgotten: (count: number) => `${formatCount(count)} known things would be forgotten.`,
    noUndo: 'This cannot be undone.',
    action: 'Reset',
    done: (name: string) => `${name} starts again.`,
  },
  empty: {
    title: 'No sensors yet',
    text: 'A sensor looks for something, such as new files or rows, and starts a job for each. Define one, then see what it would find:',
    code: `jobs:
  load: { command: [node, load.mjs] }
sensors:
  new_files:
    type: files
    glob: "incoming/*.csv"
    every: 10s
    job: load`,
    afterwards: 'rota sensor preview new_files',
  },
} as const
