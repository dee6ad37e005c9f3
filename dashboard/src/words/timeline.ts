/** Words of the timeline. */
import type { ClockChange } from '../../../src/client/ui-operations.js'
import { formatCount } from '../data/format.js'

/** The words of the timeline. */
export const words = {
  title: 'Timeline',
  chart: 'Lanes of triggers over time',
  chartHint: 'Arrow keys go from mark to mark, Enter says why. The table shows the same as rows.',
  filter: 'Filter the lanes',
  filterHint: 'name, job:…, queue:…, state:paused, mark:!done',
  qualifiers: {
    job: 'triggers of a job',
    queue: 'triggers whose jobs are in a queue',
    source: 'where the trigger was defined',
    state: 'how the trigger stands; default: active',
    mark: 'what is drawn; ! for all but',
  },
  unknownFilter: (text: string) =>
    `Not understood: ${text}. Allowed: state:active, paused, ended or any; mark: with the name of a mark.`,
  range: 'Length of the stretch',
  earlier: 'Earlier',
  later: 'Later',
  now: 'Now',
  closer: 'Zoom in',
  wider: 'Zoom out',
  table: 'Table',
  lanes: 'Lanes',
  byTrigger: 'Triggers',
  byJob: 'Jobs',
  lanesCount: (shown: string, total: string) => `${shown} of ${total} triggers`,
  zone: (zone: string) => `Times of ${zone}`,
  perHour: (count: number) => `≈ ${formatCount(Math.max(1, Math.round(count)))}/h`,
  heldBy: (target: string, by: string) => (target === 'all' ? `frozen by ${by}` : `held by ${by}`),
  change: ({ kind, cause, firstLocal, lastLocal }: ClockChange) =>
    cause === 'gap'
      ? `clocks skip ${firstLocal} to ${lastLocal}: ${kind}`
      : `clocks repeat ${firstLocal} to ${lastLocal}: ${kind}`,
  tooltip: {
    instants: (count: string) => `${count} instants`,
    due: 'due',
    took: (text: string) => `took ${text}`,
    runs: (text: string) => `has run for ${text}`,
    waited: (text: string) => `waited ${text}`,
    to: 'to',
    enter: 'Enter or click: why',
  },
  selection: {
    label: 'Selection',
    lanes: (first: string, more: number) => (more === 0 ? first : `${first} and ${formatCount(more)} more`),
    nothing: 'nothing due',
    count: (count: string, mark: string) => `${count} ${mark}`,
    why: 'Why',
    whyOne: 'Select one lane to ask why.',
    backfillOne: 'Select one lane to run its due times again.',
    retry: (count: string) => `Retry ${count}`,
    nothingFailed: 'Nothing failed in the selection.',
    backfill: 'Backfill…',
    clear: 'Clear',
    hint: 'Drag selects · Shift + wheel moves · Ctrl + wheel zooms',
  },
  retry: {
    title: (count: string) => `Retry ${count} failed runs?`,
    text: 'Each run becomes pending again with a fresh budget of attempts, and keeps its id.',
    capped: (most: string) => `Only the newest ${most} are retried at once.`,
    action: 'Retry',
    done: (count: string) => `${count} runs are retried.`,
  },
  twin: {
    label: 'What is on the timeline',
    trigger: 'trigger',
    what: 'what',
    from: 'due',
    until: 'until',
    count: 'instants',
    why: 'why',
    detail: 'detail',
    cut: (shown: string, all: string) =>
      `The first ${shown} of ${all} rows. Choose a shorter stretch or a filter.`,
  },
  empty: {
    title: 'No triggers yet',
    text: 'Each trigger gets a lane: what ran, what did not and why, and what comes next. Add one to rota.config.yaml and start the scheduler:',
    command: 'triggers:\n  hello: { job: greet, cron: "*/5 * * * *" }',
  },
  keys: {
    earlier: 'Move earlier',
    later: 'Move later',
    closer: 'Zoom in',
    wider: 'Zoom out',
    now: 'Go to now and follow it',
    table: 'Table or chart',
    move: 'Go to the next mark',
    lane: 'Go to the next lane',
    extend: 'Select from mark to mark',
    why: 'Say why',
    clear: 'Clear the selection',
  },
} as const
