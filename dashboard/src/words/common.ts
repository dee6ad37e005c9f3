/** Words that more than one page uses. All texts of the dashboard are in this folder: one file for each page. */
import type { Mark } from '../design/marks.js'

/** The common words. */
export const words = {
  product: 'Rota',
  close: 'Close',
  cancel: 'Cancel',
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  undo: 'Undo',
  undone: 'Undone.',
  undoKey: 'Undo the last change',
  undoReason: 'undone in the dashboard',
  more: 'More',
  show: 'Show',
  loading: 'Loading…',
  none: 'none',
  now: 'now',
  unknown: 'unknown',
  reason: 'Reason',
  reasonHint: 'Recorded with the change, so that others can see why.',
  skip: 'Skip to the content',
  all: 'all',
  suggestions: 'Suggestions',
  rowsNew: (count: string) => `${count} new`,
  total: (count: string, isCapped: boolean) => (isCapped ? `${count}+` : count),
  nothingMatches: 'Nothing matches the filter.',
  clearFilter: 'Clear the filter',
  teach: { terminal: 'In a terminal', config: 'In rota.config.yaml', afterwards: 'Then, in a terminal' },
  /** The first step of a new store. */
  firstTrigger: {
    command: "rota add hello --cron '* * * * *' -- echo hello",
    code: `jobs:
  hello: { command: [echo, hello] }
triggers:
  every-minute:
    job: hello
    cron: "* * * * *"`,
  },
  role: {
    readOnly: 'This server was started to read only.',
    needed: ({ actor, role }: { actor: string; role: string }, needed: string) =>
      `${actor} has the role ${role}; this needs ${needed}.`,
  },
  error: {
    title: 'This could not be read.',
    unreachable: 'The server does not answer. It may be stopped, or the network is down.',
    page: 'This page has failed.',
    notLoaded: 'This page could not be loaded.',
    reload: 'Load the page again',
  },
  unknownPage: {
    title: 'There is no such page.',
    text: 'The address may be old, or it was cut when it was copied.',
    home: 'Go to Now',
  },
  time: {
    ago: (text: string) => `${text} ago`,
    in: (text: string) => `in ${text}`,
    copyHint: 'ISO time; select to copy',
  },
} as const

/** The names of states, as shown next to their marks. */
export const markWords: Readonly<Record<Mark, string>> = {
  done: 'done',
  on: 'on',
  running: 'running',
  failed: 'failed',
  unexplained: 'unexplained',
  missed: 'missed',
  late: 'late',
  retrying: 'will be retried',
  overlap: 'overlap',
  collapsed: 'collapsed',
  paused: 'paused',
  frozen: 'frozen',
  switch: 'switched off',
  blackout: 'blackout',
  calendar: 'calendar',
  cancelled: 'cancelled',
  due: 'due',
  pending: 'pending',
  missing: 'missing',
  stale: 'stale',
  pruned: 'pruned',
  checked: 'checked',
  'not-due': 'not due',
}

/** The names of the kinds of schedules. */
export const scheduleWords = {
  every: (duration: string) => `every ${duration}`,
  afterFinish: (every: string) => `${every}, from the end of its run`,
  kinds: {
    cron: 'cron',
    interval: 'interval',
    once: 'once',
    'after-finish': 'after the end of its run',
    round: 'round',
    sensor: 'sensor',
    upstream: 'when its upstream partitions are done',
  } as Readonly<Record<string, string>>,
} as const
