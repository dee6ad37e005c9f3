/** Words of the why panel: the result of a due time, and which rule decided. */
import type {
  Explanation,
  LedgerReason,
  PendingReason,
  Run,
  SlaBreach,
} from '../../../src/client/operations.js'
import type { Missed } from '../../../src/client/ui-operations.js'
import { formatCount, formatDuration, formatRough } from '../data/format.js'
import { printable } from '../data/printable.js'
import { triesText } from './run.js'

type Of<Kind extends Explanation['kind']> = Extract<Explanation, { kind: Kind }>

/** The words of the panel. */
export const words = {
  title: (trigger: string) => `Why: ${trigger}`,
  button: 'Why',
  of: (trigger: string) => `of ${trigger}`,
  schedule: 'Schedule',
  rule: 'Rule',
  version: 'Version in force',
  recorded: 'Recorded',
  blocker: 'Blocked by',
  heldBy: 'Held by',
  until: 'Until',
  noEnd: 'until somebody releases it',
  note: 'Reason given',
  found: 'Found',
  lastSign: 'Last sign of life',
  waitsFor: 'Waits for',
  due: 'Due',
  run: 'Run',
  runHint: 'its log, its attempts, and a retry',
  afterAll: 'To run it after all',
  backfill: 'Backfill… on the page of the trigger',
  nearest: 'Nearest due times',
  before: 'before',
  after: 'after',
  defined: 'Defined',
  ended: 'Ended',
  beside: 'Started by hand or by others in that time',
  to: 'to',
  breaches: 'Promises that were broken',
  by: 'by',
  earlier: (count: number) =>
    `${formatCount(count)}${count >= 10_000 ? ' or more' : ''} earlier due times are not shown.`,
  later: 'There are more; a shorter period shows them.',
  showEarlier: 'Show the earlier ones',
  command: 'The same in a terminal',
  openRun: 'Open the run',
} as const

/** The sentence that answers why, for each kind of answer; `allowed` is how many attempts the job of a run allows. */
export function headline(one: Explanation, allowed?: number): string {
  switch (one.kind) {
    case 'run':
      return runHeadline(one.run, allowed)
    case 'range':
      return rangeHeadline(one)
    case 'held':
      return 'It will not run: it is held back.'
    case 'excluded':
      return one.reason === 'blackout'
        ? 'It will not run: it is in a blackout window.'
        : 'It will not run: its calendar excludes it.'
    case 'waiting':
      return one.hold === null
        ? 'It is due and not planned yet: no scheduler is running.'
        : 'It is due and not planned yet: planning is held back.'
    case 'future':
      return 'It is still to come.'
    case 'not-due':
      return 'The trigger was not due then. Nothing is missing.'
    case 'not-defined':
      return 'The trigger was not in force then.'
    case 'unexplained':
      return 'It was due and nothing is recorded. This must not happen: run rota doctor to find the cause.'
  }
}

function runHeadline(run: Run, allowed: number | undefined): string {
  const { state, error, reason } = run
  const text = triesText(run, allowed)
  const tries = text === '' ? '' : ` ${text}`
  switch (state) {
    case 'done':
      return `It ran and is done${tries}.`
    case 'failed':
      return `It ran and failed${tries}${error === null ? '' : `: ${error.message}`}`
    case 'running':
      return 'It is running now.'
    case 'pending':
      return 'It was recorded as a run and waits.'
    case 'cancelled':
      return `It was cancelled${reason === null ? '' : `: ${reason}`}`
  }
}

function rangeHeadline({ reason, rule, detail }: Of<'range'>): string {
  if (rule === 'partition:none') return 'It did not run: the asset has no partition for it.'
  if (reason === 'missed' && detail === null) return 'It did not run: nothing was running at that time.'
  return reasonSentences[reason]
}

const reasonSentences: Readonly<Record<LedgerReason, string>> = {
  missed: 'It did not run: it was missed.',
  collapsed: 'It has no run of its own: one run stands for several due times.',
  overlap: 'It did not run: the previous run was not finished.',
  paused: 'It did not run: the trigger was paused.',
  frozen: 'It did not run: everything was frozen.',
  switch: 'It did not run: a kill switch was off.',
  blackout: 'It did not run: it was in a blackout window.',
  calendar: 'It did not run: its calendar excludes it.',
  pruned: 'It ran; its run was deleted later by retention.',
  checked: 'The round was checked then.',
}

/** Why due times were missed, in one line. */
export function missedSentence({ rule, detail, lastAt, recordedAt, catchUp }: Missed): string {
  if (rule === 'partition:none') return ruleSentence(rule)
  if (detail !== null) return `It did not run: ${printable(detail)}.`
  const late = formatRough(Date.parse(recordedAt) - Date.parse(lastAt))
  return `Nothing was running then; found ${late} late. ${ruleSentence(rule, catchUp)}`
}

/** Explains a rule, with the limit that decided if it is known. */
export function ruleSentence(rule: string, limits?: Missed['catchUp']): string {
  return (limits == null ? undefined : limitSentence(rule, limits)) ?? ruleSentences[rule] ?? ''
}

function limitSentence(
  rule: string,
  { graceMs, maxAgeMs, maxRuns }: NonNullable<Missed['catchUp']>,
): string | undefined {
  switch (rule) {
    case 'catch-up:max-age':
      return maxAgeMs === null
        ? undefined
        : `The trigger runs nothing that is more than ${formatDuration(maxAgeMs)} late (catchUp.maxAge).`
    case 'catch-up:skip':
      return `The trigger skips what is more than ${formatDuration(graceMs)} late (catchUp: skip).`
    case 'catch-up:max-runs':
      return `Of late due times, the trigger runs the newest ${formatCount(maxRuns)} (catchUp.maxRuns).`
    default:
      return undefined
  }
}

const ruleSentences: Readonly<Record<string, string>> = {
  'catch-up:skip': 'The trigger skips what is found late (catchUp: skip).',
  'catch-up:latest': 'Of late due times, only the newest runs.',
  'catch-up:max-age': 'The trigger runs nothing that is found later than its catchUp.maxAge.',
  'catch-up:max-runs': 'Catch-up runs only a limited number of late due times (catchUp.maxRuns).',
  'overlap:skip': 'While a run is unfinished, the next ones are skipped.',
  'overlap:queue-one': 'While a run is unfinished, one waits and the others are skipped.',
  'overlap:cancel-running': 'A new run cancels the unfinished one.',
  'overlap:terminate-running': 'A new run terminates the unfinished one.',
  'partition:none': 'The asset of the trigger has no partition at that time.',
  hold: 'A pause, freeze or switch held it back.',
  blackout: 'Nothing is due in a blackout window.',
  'calendar:exclude': 'The calendar excludes that time.',
  'calendar:include': 'That time is outside of the calendar.',
  'calendar:next-day': 'It is due at the same time on the next day that the calendar allows.',
  prune: 'Old history is removed after its retention.',
  'round:check': 'A check of the round decides what runs.',
  'round:later': 'Skipped after the check.',
  'round:overlap': 'The previous check was not finished.',
}

/** What a pending run waits for. */
export function pendingSentence(reason: PendingReason): string {
  switch (reason.kind) {
    case 'due-later':
      return 'its time'
    case 'retry':
      return `its next attempt, after ${reason.failures} failed`
    case 'snoozed':
      return `the time it asked for${reason.reason === '' ? '' : `: ${reason.reason}`}`
    case 'held':
      return `the end of a hold by ${reason.hold.by}`
    case 'queue-paused':
      return `queue ${reason.queue}, which ${reason.hold.by} paused`
    case 'limit':
      return `a slot of ${reason.of} ${reason.name}${reason.key === null ? '' : ` ${reason.key}`} (at most ${reason.limit} at a time)`
    case 'queue-full':
      return `a slot of queue ${reason.queue} (at most ${reason.limit} at a time)`
    case 'rate-limit':
      return `its turn: ${reason.of === 'queue' ? 'queue' : 'job'} ${reason.name} starts at most ${reason.max} in ${formatDuration(reason.perMs)}${reason.key === null ? '' : ` for the key ${reason.key}`}`
    case 'job-undefined':
      return `a definition of job ${reason.job}, which no source has`
    case 'no-worker':
      return 'a worker: none is alive'
    case 'draining':
      return reason.workers === 1
        ? 'a worker: the only live one drains'
        : `a worker: all ${reason.workers} drain`
    case 'no-handler':
      return `a worker that has job ${reason.job}, a function of ${reason.source}`
    case 'slots-taken':
      return `a free slot: all ${reason.slots} of ${reason.workers} workers are taken`
    case 'ready':
      return 'nothing: a worker takes it within seconds'
  }
}

/** The SLA that was broken; the deadline is shown after it. */
export function broken({ rule, of, partition }: Pick<SlaBreach, 'rule' | 'of' | 'partition'>): string {
  switch (rule) {
    case 'started-within':
      return of === 'round' ? 'its check had not begun' : 'its run had not begun'
    case 'finished-within':
    case 'finished-by':
      return of === 'round' ? 'its check was not recorded as ended' : 'its run was not recorded as ended'
    case 'not-older-than':
      return 'there had been no new success'
    case 'made-within':
    case 'made-by':
      return `the partition ${partition ?? ''} was not made`
  }
}
