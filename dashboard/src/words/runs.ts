/** Words of the list of runs. */
import { formatCount } from '../data/format.js'

/** The words of the page. */
export const words = {
  title: 'Runs',
  label: 'Runs, the newest due time first',
  filter: 'Filter runs',
  hint: 'state:failed job:mail error:ECONN* due:today late:>1m',
  views: {
    label: 'Views',
    all: 'All',
    failed: 'Failed',
    running: 'Running',
    waiting: 'Waiting',
    save: 'Save view…',
    saveTitle: 'Save this filter as a view',
    saveText: 'Views are kept in this browser.',
    saveAction: 'Save',
    name: 'Name',
    asDefault: 'Show it when the page opens without a filter',
    saved: (name: string) => `Saved as ${name}.`,
    remove: (name: string) => `Remove the view ${name}`,
    removed: (name: string) => `The view ${name} is gone.`,
  },
  columns: {
    select: 'Select',
    state: 'state',
    name: 'trigger or job',
    id: 'id',
    error: 'error or result',
    attempt: 'attempt',
    due: 'due',
    took: 'took',
    why: '',
  },
  selectRun: (id: string) => `Select run ${id}`,
  selectAll: 'Select all on this page',
  older: 'Older',
  newer: 'Newer',
  first: 'Newest',
  atNewest: 'These are the newest.',
  atOldest: 'There are no older ones.',
  showNew: (count: number) => `${formatCount(count)} new: show`,
  found: (count: string) => `${count} runs`,
  selected: (count: number) => `${formatCount(count)} selected`,
  allSelected: (count: string) => `All ${count} that match are selected`,
  selectMatching: (count: string) => `Select all ${count} that match`,
  filterFirst: 'Without a filter this would be every run. Write a filter first.',
  selection: 'Selection',
  clear: 'Clear the selection',
  lookedFar: 'None of the runs that were searched match; older ones may.',
  empty: {
    title: 'No job has run yet.',
    text: 'Runs appear here when a trigger is due, or when somebody runs a job. Define one, then run it:',
    code: `jobs:
  hello: { command: [echo, hello] }`,
    afterwards: 'rota run hello',
  },
  keys: {
    down: 'Next run',
    up: 'Previous run',
    select: 'Select the run',
    open: 'Open the run',
    why: 'Why',
    retry: 'Retry',
  },
  bulk: {
    retry: {
      button: 'Retry…',
      title: (count: string) => `Retry ${count} runs?`,
      text: 'Each failed or cancelled run keeps its id and gets all its attempts again.',
      action: 'Retry them',
    },
    cancel: {
      button: 'Cancel…',
      title: (count: string) => `Cancel ${count} runs?`,
      text: 'Pending runs will not run; running ones are asked to stop.',
      action: 'Cancel them',
    },
    would: (count: string) => `${count} runs would change.`,
    capped: 'There are more than one action takes; these are the newest.',
    skipped: (count: string, about: string) => `${count} skipped: ${about}.`,
    examples: 'The newest of them',
  },
  progress: {
    label: (action: string) => `Progress of ${action}`,
    actions: { retry: 'Retry', cancel: 'Cancel', run: 'Run again', advance: 'Run now' },
    states: {
      running: (action: string, done: string, total: string) => `${action}: ${done} of ${total} runs so far`,
      done: (action: string, done: string, total: string) => `${action}: ${done} of ${total} runs, finished`,
      aborted: (action: string, done: string, total: string) =>
        `${action}: aborted after ${done} of ${total} runs`,
      failed: (action: string, done: string, total: string) =>
        `${action}: ${done} of ${total} runs, ended with errors`,
    },
    by: (actor: string) => `by ${actor}`,
    failed: (count: string, message: string | undefined) =>
      `${count} could not be changed${message === undefined ? '' : `: ${message}`}`,
    abort: 'Abort…',
    abortTitle: 'Abort this action?',
    abortText: 'The runs that it has changed stay changed; the others are not changed.',
    abortAction: 'Abort',
    abortDone: 'Aborted: the other runs are not changed.',
    close: 'Hide',
  },
  errors: {
    show: 'By error',
    label: 'Errors of failed runs, the most frequent first',
    columns: {
      count: 'runs',
      error: 'error',
      jobs: 'jobs',
      first: 'first due',
      last: 'last due',
    },
    runs: 'Runs',
    none: 'No failed run matches.',
    noneText: 'Failed runs are grouped here by the code and the message of their errors.',
    of: (count: string, isCapped: boolean) =>
      isCapped
        ? `The newest ${count} failed runs.`
        : count === '1'
          ? '1 failed run.'
          : `All ${count} failed runs.`,
  },
  fault: (message: string, allowed: string | null) =>
    allowed === null ? message : `${message} (allowed: ${allowed})`,
} as const
