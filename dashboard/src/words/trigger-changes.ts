/** Words of the states of triggers, and of the dialogs that change triggers. */
import type { Trigger } from '../../../src/client/operations.js'
import { formatCount } from '../data/format.js'

/** The names of the states of triggers. */
export const triggerStateWords: Readonly<Record<Trigger['state'], string>> = {
  on: 'on',
  paused: 'paused',
  frozen: 'frozen',
  'switched off': 'switched off',
  disabled: 'disabled',
  over: 'over',
  ended: 'ended',
}

const many = (names: readonly string[]): string =>
  names.length === 1 ? (names[0] ?? '') : `${formatCount(names.length)} triggers`

/** The words of the dialogs, and of the line that says who paused a trigger. */
export const words = {
  held: {
    pausedBy: (by: string) => `Paused by ${by}`,
    frozenBy: (by: string) => `Frozen with everything by ${by}`,
    since: 'since',
    until: 'until',
    noEnd: 'until somebody resumes it',
    noReason: 'no reason given',
  },
  pause: {
    title: (names: readonly string[]) => `Pause ${many(names)}?`,
    text: 'Due times are recorded as paused and do not run. Runs in progress and pending runs continue.',
    next: 'The first ones that will be held back:',
    action: 'Pause',
    done: (names: readonly string[]) => `Paused ${many(names)}.`,
    already: (count: number) => `${formatCount(count)} were already paused.`,
  },
  resume: {
    title: (names: readonly string[]) => `Resume ${many(names)}?`,
    text: 'Due times run again from now on.',
    held: (by: string) => `Paused by ${by}`,
    since: 'since',
    range: 'Due times held back:',
    to: 'to',
    nothing: 'Nothing was due meanwhile.',
    choice: 'What was held back',
    skip: 'stays skipped; the ledger keeps it as paused',
    catchUp: (mode: string | undefined) =>
      mode === undefined
        ? 'is caught up, as the catch-up rule of each trigger says'
        : `is caught up, as the catch-up rule says: ${catchUpWords[mode] ?? mode}`,
    action: 'Resume',
    done: (names: readonly string[]) => `Resumed ${many(names)}.`,
  },
  run: {
    title: (name: string) => `Run ${name} now?`,
    text: (job: string) =>
      `The job ${job} runs once, in addition to the schedule. The next due time does not change.`,
    partition: 'Partition',
    partitionHint: 'Leave it empty for the current one.',
    action: 'Run now',
    done: (name: string) => `A run of ${name} is on its way.`,
  },
  failed: (count: number, first: string) =>
    `${formatCount(count)} could not be changed. The first one: ${first}`,
  progress: (done: number, all: number) => `${formatCount(done)} of ${formatCount(all)}`,
} as const

const catchUpWords: Readonly<Record<string, string>> = {
  latest: 'the newest runs, the others stay skipped',
  all: 'all run, oldest first',
  skip: 'none runs',
}
