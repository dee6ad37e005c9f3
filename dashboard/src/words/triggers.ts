/** Words of the list of triggers. */
import { triggerStateWords } from './trigger-changes.js'

/** The words. */
export const words = {
  title: 'Triggers',
  search: 'Filter triggers',
  hint: 'Part of a name, state:paused, job:mail, next:<1h',
  columns: {
    state: 'state',
    name: 'name',
    schedule: 'schedule',
    runs: 'newest runs',
    last: 'last due',
    next: 'next due',
  },
  qualifiers: {
    name: 'part of the name',
    state: 'active, paused, ended or any',
    job: 'name of its job',
    source: 'where it is defined',
    next: 'due within a time',
    order: 'by name or by next due time',
  },
  wrong: (word: string, allowed: readonly string[]) =>
    `${word} is not known here. Allowed: ${allowed.join(', ')}.`,
  oneName: (text: string) => `“${text}”: only one part of a name can be searched for.`,
  states: triggerStateWords,
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all rows that are loaded, 1,000 at most',
  selected: (count: string) => `${count} selected`,
  selection: 'What is selected',
  selectFirst: 'Select triggers first.',
  pause: 'Pause…',
  resume: 'Resume…',
  noNext: 'no fixed time',
  neverRan: 'no run yet',
  didNotRun: 'no run. Why?',
  keys: {
    down: 'Next row',
    up: 'Previous row',
    select: 'Select the row',
    open: 'Open the row',
    pause: 'Pause the selected ones',
    clear: 'Clear the selection',
  },
  empty: {
    title: 'No triggers yet',
    text: 'A trigger says when a job runs. Add one with a command, or in the config file, which “rota up” reads at its start and on “rota reload”.',
  },
} as const
