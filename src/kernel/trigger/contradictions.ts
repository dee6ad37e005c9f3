import { formatDuration } from '../../time/duration.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { isMap, type Written } from '../definition/read-value.js'
import type { Trigger } from './trigger.js'

type Policies = Pick<Trigger, 'catchUp' | 'jitterMs' | 'spreadMs' | 'sla' | 'pauseAfter'>

/** Notes options of a trigger that contradict each other. Each fault stands at one of the two places and names the other. */
export function noteContradictions(input: Written, policies: Policies, place: Place): void {
  noteCatchUp(input['catchUp'], policies, within(place, 'catchUp'))
  noteSla(input, policies, within(place, 'sla'))
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

/** Jitter and spread move a run on purpose: a promise that is shorter would be broken by the trigger itself. */
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

function notePauseAfter(input: Written, { pauseAfter }: Policies, place: Place): void {
  if (pauseAfter === undefined) return
  const { count } = input
  if (input['at'] !== undefined && pauseAfter > 1)
    fault(place, `${pauseAfter} contradicts \`at\`: there is one run`, '1, or leave it out')
  if (typeof count === 'number' && count < pauseAfter)
    fault(place, `${pauseAfter} contradicts \`count\` (${count}): there are fewer runs`, `at most ${count}`)
}
