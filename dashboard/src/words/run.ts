/** Words of the page of one run. */
import type { Run } from '../../../src/client/operations.js'

/** The words of the page. */
export const words = {
  title: 'Run',
  missing: {
    title: 'There is no such run.',
    text: 'It may have been pruned with old history, or the id was cut when it was copied.',
    list: 'All runs',
  },
  ofTrigger: 'trigger',
  ofJob: 'job',
  stopping: 'asked to stop',
  copyId: 'Copy the id',
  error: {
    stack: 'Stack',
    details: 'Details',
    same: 'Those runs',
    first: 'Same error first seen',
    since: (count: string, isCapped: boolean) => `in ${count}${isCapped ? '+' : ''} failed runs`,
  },
  steps: {
    title: 'From due to done',
    due: 'due',
    recorded: 'recorded',
    claimed: 'claimed',
    started: 'started',
    ended: 'ended',
    notYet: 'not yet',
    planned: 'planned on time',
    plannedLate: 'no scheduler planned',
    waited: 'waited for a worker',
    waitedRetry: 'waited for the retry',
    prepared: 'prepared',
    performed: 'performed',
    performing: 'so far',
    tries: (count: number) => `${count} attempts`,
  },
  attempts: {
    title: 'Attempts',
    none: 'No attempt has begun.',
    number: '#',
    end: 'end',
    worker: 'worker',
    started: 'started',
    took: 'took',
    error: 'error',
    running: 'running',
  },
  waiting: 'Why it waits',
  log: {
    title: 'Log',
    follow: 'Follow',
    empty: 'Nothing was printed.',
    emptyYet: 'Nothing has been printed yet.',
    label: 'Lines of the log',
    cut: (count: string) => `… ${count} more characters`,
    dropped: (count: string) => `The first ${count} lines are not shown; \`rota logs\` prints all.`,
    lost: 'The rest of the log could not be read.',
  },
  payload: 'Payload',
  result: 'Result',
  facts: 'About',
  fact: {
    id: 'id',
    job: 'job',
    trigger: 'trigger',
    origin: 'origin',
    partition: 'partition',
    labels: 'labels',
    worker: 'worker',
    priority: 'priority',
    uniqueKey: 'unique key',
    reason: 'reason',
    crashes: 'crashes',
  },
  origins: {
    trigger: 'due by its trigger',
    enqueue: 'enqueued',
    manual: 'started by hand',
    sensor: 'found by a sensor',
    round: 'chosen by a round',
    upstream: 'its upstream partitions were done',
    backfill: 'part of a backfill',
  } satisfies Readonly<Record<Run['origin'], string>>,
  ends: {
    done: 'done',
    failed: 'failed',
    'timed-out': 'timed out',
    lost: 'lost with its worker',
    released: 'released',
    snoozed: 'snoozed',
    cancelled: 'cancelled',
  },
  actions: {
    retry: 'Retry…',
    cancel: 'Cancel…',
    again: 'Run again…',
    why: 'Why this run',
    only: (states: string) => `Only a run that is ${states} can be changed this way.`,
    retryTitle: 'Retry this run?',
    retryText: 'It keeps its id and gets all its attempts again. A worker takes it as soon as it can.',
    retryAction: 'Retry',
    retried: 'The run is pending again.',
    cancelTitle: 'Cancel this run?',
    cancelPending: 'It has not begun, and will not run.',
    cancelRunning:
      'Its handler is asked to stop. The run is cancelled when it has stopped; a retry starts it again.',
    cancelAction: 'Cancel the run',
    cancelled: 'The run is cancelled.',
    cancelRequested: 'The run was asked to stop.',
    againTitle: 'Run this again?',
    againText: 'A new run of the same job with the same payload. The schedule does not change.',
    againAction: 'Run again',
    againDone: 'A new run was recorded.',
  },
} as const

type Tried = Pick<Run, 'state' | 'attempt' | 'failures'>

/** The number of the attempt and how many are allowed. */
export function attemptText(run: Tried, allowed: number | undefined): string {
  const { attempt, failures } = run
  if (allowed === undefined) return `attempt ${attempt}`
  return isCounted(run, allowed)
    ? `attempt ${attempt} of ${allowed}`
    : `attempt ${attempt} (${failures} of ${allowed} failed)`
}

/** The same without the word, for a column that is named attempt. */
export function attemptCell(run: Tried, allowed: number | undefined): string {
  const { attempt } = run
  const isSaid = allowed !== undefined && allowed > 1 && attempt > 0 && isCounted(run, allowed)
  return isSaid ? `${attempt} of ${allowed}` : String(attempt)
}

/** After how many attempts a run ended; empty if one attempt was enough. */
export function triesText(run: Tried, allowed: number | undefined): string {
  const { attempt, state } = run
  if (allowed !== undefined && isCounted(run, allowed)) {
    if (allowed > 1) return `after ${attempt} of ${allowed} attempts`
    return state === 'failed' ? 'at its only attempt' : ''
  }
  return attempt > 1 ? `after ${attempt} attempts` : ''
}

/**
 * Whether the attempts of a run count against the limit of its job. Attempts that were lost with their process, or that
 * came before a manual retry, do not.
 */
function isCounted({ state, attempt, failures }: Tried, allowed: number): boolean {
  const others = attempt - failures
  const isEnded = state === 'failed' || state === 'pending'
  return (
    attempt <= allowed && (isEnded ? others === 0 : others === 1 || (state === 'cancelled' && others === 0))
  )
}
