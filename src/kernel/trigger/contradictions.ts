import { formatDuration } from '../../time/duration.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { isMap, type Written } from '../definition/read-value.js'
import type { Job } from '../job/job.js'
import type { Sla } from '../sla/sla.js'
import { scheduleOf, type ScheduleSpec } from './schedule.js'
import type { Trigger } from './trigger.js'

type Policies = Pick<Trigger, 'catchUp' | 'jitterMs' | 'spreadMs' | 'sla' | 'pauseAfter'> & {
  /** Undefined if it could not be read. */
  readonly schedule: ScheduleSpec | undefined
}

/** Records options that contradict each other. Each fault is at one of the two places and names the other. */
export function noteContradictions(input: Written, policies: Policies, place: Place): void {
  noteCatchUp(input['catchUp'], policies, within(place, 'catchUp'))
  noteSla(input, policies, within(place, 'sla'))
  noteAge(policies.sla, policies.schedule, within(place, 'sla'))
  notePauseAfter(input, policies, within(place, 'pauseAfter'))
}

function noteCatchUp(written: unknown, { catchUp: { mode } }: Policies, place: Place): void {
  if (!isMap(written)) return
  const contradicts = `contradicts \`catchUp.mode\` (${mode})`
  if (written['maxRuns'] !== undefined && mode !== 'all')
    fault(
      within(place, 'maxRuns'),
      `${shown(written['maxRuns'])} ${contradicts}: at most one run is caught up`,
      'only with mode all',
    )
  if (written['maxAge'] !== undefined && mode === 'skip')
    fault(
      within(place, 'maxAge'),
      `${shown(written['maxAge'])} ${contradicts}: no run is caught up`,
      'only with mode latest or all',
    )
}

/** Jitter and spread delay a run on purpose: the trigger itself would break a shorter promise. */
function noteSla(input: Written, { sla, jitterMs, spreadMs }: Policies, place: Place): void {
  const movedMs = jitterMs + spreadMs
  const names = ['jitter', 'spread'].filter((name) => input[name] !== undefined).map((name) => `\`${name}\``)
  const promises = [
    ['startedWithin', sla?.startedWithinMs],
    ['finishedWithin', sla?.finishedWithinMs],
  ] as const
  for (const [name, ms] of promises) {
    if (ms === undefined || ms >= movedMs) continue
    const moved = `which may delay a run by ${formatDuration(movedMs)}`
    fault(
      within(place, name),
      `${formatDuration(ms)} contradicts ${names.join(' and ')}, ${moved}`,
      `at least ${formatDuration(movedMs)}`,
    )
  }
}

/** Records a fault if the schedule itself always breaks the promise about the last success. */
export function noteAge(sla: Sla | undefined, schedule: ScheduleSpec | undefined, place: Place): void {
  const ageMs = sla?.notOlderThanMs
  if (ageMs === undefined || schedule === undefined) return
  const at = within(place, 'notOlderThan')
  if (schedule.kind === 'once') {
    fault(
      at,
      `${formatDuration(ageMs)} contradicts \`at\`: there is one run`,
      'leave it out, or use finishedWithin',
    )
    return
  }
  const gapMs = shortestGapMs(schedule)
  if (gapMs === undefined || ageMs > gapMs) return
  const option = schedule.kind === 'cron' ? 'cron' : 'every'
  fault(
    at,
    `${formatDuration(ageMs)} contradicts \`${option}\`, which is due at most every ${formatDuration(gapMs)}`,
    `longer than ${formatDuration(gapMs)}`,
  )
}

/** How many due instants of an expression are compared. */
const mostCompared = 50

/** Any day will do: apart from leap days and clock changes, expressions are the same in every year. */
const comparedFrom = Date.UTC(2026, 0, 1)

/** The shortest time between two due instants. */
function shortestGapMs(schedule: ScheduleSpec): number | undefined {
  if (schedule.kind === 'interval' || schedule.kind === 'after-finish') return schedule.everyMs
  if (schedule.kind !== 'cron') return undefined
  const { kind, expression, timezone, dst } = schedule
  const instants = scheduleOf({ kind, expression, timezone, dst })
  let shortest: number | undefined
  let before = instants.next(comparedFrom)
  for (let i = 0; i < mostCompared && before !== undefined; i++) {
    const next = instants.next(before)
    if (next === undefined) break
    shortest = Math.min(shortest ?? Infinity, next - before)
    before = next
  }
  return shortest
}

/** Records a fault if a trigger delays runs longer than the SLA of its job allows. */
export function noteDelayedJob(
  { jitterMs, spreadMs }: Pick<Trigger, 'jitterMs' | 'spreadMs'>,
  job: Job | undefined,
  place: Place,
): void {
  const movedMs = jitterMs + spreadMs
  const promises = [
    ['startedWithin', job?.sla?.startedWithinMs],
    ['finishedWithin', job?.sla?.finishedWithinMs],
  ] as const
  for (const [name, ms] of promises) {
    if (job === undefined || ms === undefined || ms >= movedMs) continue
    const option = jitterMs >= spreadMs ? 'jitter' : 'spread'
    fault(
      within(place, option),
      `runs may be delayed by ${formatDuration(movedMs)}, which contradicts \`jobs.${job.name}.sla.${name}\` (${formatDuration(ms)})`,
      `at most ${formatDuration(ms)}`,
    )
  }
}

function notePauseAfter(input: Written, { pauseAfter }: Policies, place: Place): void {
  if (pauseAfter === undefined) return
  const { count } = input
  if (input['at'] !== undefined && pauseAfter > 1)
    fault(place, `${pauseAfter} contradicts \`at\`: there is one run`, '1, or leave it out')
  if (typeof count === 'number' && count < pauseAfter)
    fault(place, `${pauseAfter} contradicts \`count\` (${count}): there are fewer runs`, `at most ${count}`)
}
