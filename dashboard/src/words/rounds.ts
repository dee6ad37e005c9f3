/** Words of the page of rounds. */
import { formatCount } from '../data/format.js'
import { triggerStateWords } from './trigger-changes.js'

/** The words. */
export const words = {
  title: 'Rounds',
  showStopped: 'Show stopped rounds',
  states: { ...triggerStateWords, stopped: 'stopped' },
  every: (duration: string) => `checks every ${duration}`,
  neverChecked: 'no check yet',
  openSince: 'cycle open since',
  lastCheck: 'last check',
  nextCheck: 'next check',
  resumed: 'continued after an interruption',
  progress: (done: number, all: number) =>
    all === 0 ? 'no service was due' : `${formatCount(done)} of ${formatCount(all)} services`,
  progressOf: (name: string) => `Progress of the cycle of ${name}`,
  servicesOf: (name: string) => `Services of ${name}`,
  owned: (source: string) => `It is defined by ${source}; change it there.`,
  actions: { start: 'Start…', stop: 'Stop…', pause: 'Pause…', resume: 'Resume…' },
  service: {
    name: 'service',
    state: 'in this cycle',
    info: 'result or reason',
    last: 'last run',
    next: 'due again',
    every: 'interval',
    edit: 'Edit…',
    editOf: (name: string) => `Edit the interval of ${name}`,
    running: 'running',
    ok: 'done',
    error: 'failed',
    left: 'left',
    skipped: 'skipped',
    idle: 'not in the cycle',
    never: 'never',
  },
  skipReasons: {
    not_due: 'not due: it ran less than its interval ago',
    in_flight: 'a run of it is still in progress',
    tried: 'it already failed for this check in another round',
    replaced: 'the list was replaced',
  },
  dialogs: {
    startTitle: (name: string) => `Start the round ${name}?`,
    startText: 'It continues with the services that were left, and checks at its interval again.',
    start: 'Start',
    started: (name: string) => `Started the round ${name}.`,
    stopTitle: (name: string) => `Stop the round ${name}?`,
    stopText: 'The current service finishes; then nothing more is checked until somebody starts it.',
    left: (count: number) =>
      count === 0
        ? 'No service of the cycle is left.'
        : `${formatCount(count)} services of the cycle are left; a start continues with them.`,
    stop: 'Stop',
    stopped: (name: string) => `Stopped the round ${name}.`,
    timingTitle: (service: string) => `How often does ${service} run?`,
    timingText: 'The interval applies in all rounds. It is measured from the last run.',
    every: 'Interval',
    everyHint: 'Such as 90s, 20m, 12h or 1d.',
    becomes: (duration: string) => `Every ${duration}.`,
    due: 'Due again',
    timing: 'Save',
    timed: (service: string, every: string) => `${service} runs every ${every}.`,
  },
  empty: {
    title: 'No rounds yet',
    text: 'A round goes through services one after another and continues where it stopped. Its services are jobs:',
    command: 'rota round start crawlers --every 1h -s news_crawler -s shop_crawler=24h',
    code: `jobs:
  news_crawler: { command: [node, news.mjs] }
  shop_crawler: { command: [node, shop.mjs] }
rounds:
  crawlers:
    every: 1h
    services:
      - news_crawler
      - job: shop_crawler
        every: 24h`,
  },
} as const
