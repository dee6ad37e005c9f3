/** Words of the page of one trigger. */
import type { ClockChange } from '../../../src/client/ui-operations.js'
import { formatCount } from '../data/format.js'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The words. */
export const words = {
  missing: {
    title: (name: string) => `There is no trigger ${name}.`,
    text: 'Its name may have changed, or its history is gone with its store.',
    list: 'All triggers',
  },
  runs: 'Runs the job',
  source: (source: string) => {
    const [kind, name] = [source.split(':')[0] ?? '', source.slice(source.indexOf(':') + 1)]
    if (kind === 'config') return `defined by the config of the app ${name}; change it there`
    if (kind === 'code' || kind === 'app') return `defined by the code of ${name}; change it there`
    return `added at run time (${source})`
  },
  noChanges: 'Nobody has changed it since the audit began.',
  uncomputedWhy: 'Its due times do not follow from its definition, so they cannot be run again.',
  endedWhy: 'This trigger has ended: its source no longer defines it.',
  dst: (rule: string) => `clock changes: ${rule}`,
  dstRules: {
    vixie:
      'A time that the clocks skip runs once, directly after the gap; one that comes twice runs the first time.',
    skip: 'A time that the clocks skip does not run; one that comes twice runs the first time.',
    'real-time': 'A time that the clocks skip does not run; one that comes twice runs both times.',
  },
  details: 'Details of the trigger',
  tabs: {
    history: 'History',
    policies: 'Policies',
    versions: (count: number) => `Versions (${formatCount(count)})`,
    holds: 'Holds',
    backfills: 'Backfills',
    audit: 'Audit',
  },
  actions: { run: 'Run now…', pause: 'Pause…', resume: 'Resume…', backfill: 'Backfill…', edit: 'Edit…' },
  next: {
    title: 'Next due',
    noneAny: 'Nothing is due.',
    none: {
      once: 'It was due once, and that is over.',
      upstream: 'Due when its upstream partitions are done, not by time.',
      'after-finish': 'Due an interval after the end of its run.',
    } as Readonly<Record<string, string>>,
  },
  clockChange: ({ kind, cause, firstLocal, lastLocal }: ClockChange): string => {
    const day = localDay(firstLocal)
    const clock = firstLocal.slice(11, 16)
    const last = lastLocal.slice(11, 16)
    const times = clock === last ? clock : `${clock} to ${last}`
    if (cause === 'gap') {
      return kind === 'moved'
        ? `${day}: ${times} does not exist, because clocks go forward; it runs at the change,`
        : `${day}: ${times} does not exist, because clocks go forward; it does not run. The change is at`
    }
    return kind === 'added'
      ? `${day}: ${times} comes twice, because clocks go back; it runs both times. The change is at`
      : `${day}: ${times} comes twice, because clocks go back; it runs the first time only. The change is at`
  },
  year: {
    title: (year: number) => String(year),
    label: 'Days of the year',
    before: 'The year before',
    after: 'The year after',
    month: (date: string) => months[Number(date.slice(5, 7)) - 1] ?? '',
    coverage: ([due, run, explained, unexplained]: readonly string[]) =>
      `${due} due · ${run} run · ${explained} explained · ${unexplained} unexplained`,
    day: (
      date: string,
      counts: readonly (readonly [string, number])[],
      ranges: readonly (readonly [string, number])[],
    ) => {
      const parts = [
        ...counts.map(([state, count]) => `${formatCount(count)} ${state}`),
        ...ranges.map(
          ([reason, count]) => `${reason} (${formatCount(count)} ${count === 1 ? 'range' : 'ranges'})`,
        ),
      ]
      return `${localDay(date)}: ${parts.length === 0 ? 'nothing due' : parts.join(', ')}`
    },
  },
  durations: {
    title: 'Durations, newest 200',
    usual: (median: string, slow: string) => `median ${median} · 95 % ≤ ${slow}`,
    none: 'No run has ended yet.',
    label: (count: number, longest: string) =>
      `Durations of the newest ${formatCount(count)} runs; the longest took ${longest}.`,
    bar: (state: string, took: string, at: string) => `${state} in ${took}, due ${at}`,
  },
  history: {
    none: 'Nothing has been due yet.',
    due: 'due',
    to: 'to',
    state: 'state',
    what: 'run, or the rule that decided',
    took: 'took',
    why: 'why',
    manual: 'by hand',
    older: 'Show older ones',
    all: 'All runs of this trigger',
  },
  policies: {
    trigger: 'Trigger',
    job: (name: string) => `Job ${name}`,
    catchUp: 'catch-up',
    catchUps: {
      latest: 'after downtime the newest runs, the others are recorded as collapsed',
      all: 'after downtime all run, oldest first',
      skip: 'after downtime none runs',
    } as Readonly<Record<string, string>>,
    atMost: (runs: number) => `at most ${formatCount(runs)} runs`,
    maxAge: (age: string) => `not older than ${age}`,
    grace: (grace: string) => `up to ${grace} late is on time`,
    overlap: 'overlap',
    overlaps: {
      skip: 'a due time is skipped while a run is unfinished',
      'queue-one': 'one waits while a run is unfinished',
      'queue-all': 'all wait while a run is unfinished',
      allow: 'runs may run at the same time',
      'cancel-running': 'the unfinished run is asked to stop',
      'terminate-running': 'the unfinished run is terminated',
    } as Readonly<Record<string, string>>,
    jitter: 'jitter',
    spread: 'spread',
    pauses: 'pauses itself',
    pausesAfter: (count: number) =>
      count === 1 ? 'after 1 failed run' : `after ${count} failed runs in a row`,
    partition: 'partition',
    payload: 'payload',
    handler: 'handler',
    queue: 'queue',
    priority: 'priority',
    retry: 'retry',
    retries: (attempts: number, delay: string, backoff: string) =>
      attempts === 1 ? 'none' : `${attempts} attempts, first after ${delay}, ${backoff}`,
    timeout: 'timeout',
    none: 'none',
    concurrency: 'concurrency',
    unlimited: 'unlimited',
    maxCrashes: 'crashes allowed',
    notRetried: 'not retried',
    rate: 'rate limit',
    ratePerKey: 'rate limit per key',
    rates: (max: number, per: string, burst: number) => `${max} in ${per}, ${burst} at once`,
    deadLetter: 'dead-letter job',
    source: 'source',
  },
  versions: {
    version: 'version',
    from: 'in force from',
    until: 'until',
    now: 'now',
    changes: 'what changed',
    tzdata: 'tzdata',
    first: 'first definition',
    rules: 'the rules of its time zone',
    change: (path: string, before: string | undefined, after: string | undefined) =>
      `${path}: ${before ?? '–'} → ${after ?? '–'}`,
  },
  holds: {
    none: 'Nobody has held it back in the last year.',
    teach: 'A pause records who, why and until when.',
    what: 'what',
    from: 'from',
    until: 'until',
    open: 'still held',
    by: 'by',
    note: 'reason',
    catchUp: 'at its end',
    caughtUp: 'caught up',
    skipped: 'left skipped',
  },
} as const

function localDay(local: string): string {
  const [year = '', month = '', day = ''] = local.slice(0, 10).split('-')
  return `${Number(day)} ${months[Number(month) - 1] ?? ''} ${year}`
}
