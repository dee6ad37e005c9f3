/** Words of backfills: their list, and the dialog that plans one of a trigger. */

/** The words of a list of backfills. */
export const words = {
  title: 'Backfills',
  none: 'No backfills yet',
  teach: {
    asset: 'Select partitions above and plan one, or use a command:',
    trigger: 'Plan one with the button above, by a selection on the timeline, or with a command:',
  },
  state: 'state',
  range: 'range',
  fromTo: (first: string, last: string) => (first === last ? first : `${first} to ${last}`),
  progress: 'progress',
  progressOf: (id: string) => `Progress of ${id}`,
  numbers: ([done, failed, left]: readonly string[]) => `${done} done · ${failed} failed · ${left} left`,
  only: 'which',
  planned: 'planned',
  start: 'Start…',
  startTitle: (id: string) => `Start the backfill ${id}?`,
  startText: (count: string, range: string) =>
    `${count} runs are recorded: ${range}. They wait behind what is due now.`,
  startAction: 'Start',
  startDone: (count: string) => `Started a backfill of ${count}.`,
  cancel: 'Cancel…',
  over: 'Nothing of it is left.',
  cancelTitle: (id: string) => `Cancel the backfill ${id}?`,
  cancelText:
    'Runs that have not started are cancelled, those in progress are asked to stop. Finished runs stay. This cannot be undone; another backfill can run the rest.',
  cancelPlan: (count: string) => `${count} runs would be cancelled.`,
  cancelAction: 'Cancel the rest',
  cancelled: (count: string) => `Cancelled ${count} runs of the backfill.`,
} as const

/** Which items a backfill runs again. */
export const onlyWords: Readonly<Record<string, string>> = {
  missing: 'missing ones',
  'missing-or-failed': 'missing and failed ones',
  failed: 'failed ones',
  stale: 'stale ones',
  all: 'all, also done ones',
}

/** The words of the dialog that plans a backfill of a trigger. */
export const triggerBackfillWords = {
  title: (trigger: string) => `Backfill ${trigger}`,
  from: 'From',
  to: 'To, included',
  only: 'Which due times',
  onlys: {
    missing: 'those without a run',
    'missing-or-failed': 'those without a run, and failed ones',
    failed: 'failed ones',
    all: 'all, also done ones',
  },
  order: 'Order',
  orders: { 'oldest-first': 'oldest first', 'newest-first': 'newest first' },
  concurrency: 'Running at once',
  noLimit: 'no limit',
  pace: 'At most, such as 10/1m',
  runs: (count: string) => `${count} to run`,
  noRuns: 'Nothing to run.',
  skipped: (count: string, about: string, detail: string | null) =>
    `${count === '' ? '' : `${count} skipped: `}${about}${detail === null ? '' : ` (${detail})`}`,
  action: (count: string) => (count === '' || count === '0' ? 'Start' : `Start ${count}`),
  nothing: 'Nothing was started: there is nothing to run.',
  changed: 'Since you opened this, what would run has changed. This is the plan now: start it, or cancel.',
  started: (count: string) => `Started a backfill of ${count} due times.`,
} as const
