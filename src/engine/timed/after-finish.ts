import { runIdOf, type RunId } from '../../kernel/identity/identity.js'
import { newTriggerRun } from '../../kernel/identity/occurrence.js'
import { chainEffect, keepingName } from '../../kernel/run/end-effect.js'
import { runEntries } from '../../kernel/tick/run-entries.js'
import { catchUp } from '../../kernel/tick/catch-up.js'
import { firstAllowed, YEAR_MS } from '../../kernel/calendar/calendar.js'
import { cutCalendar } from '../../kernel/tick/calendar-cut.js'
import { cutHolds } from '../../kernel/tick/hold-cut.js'
import type { AfterFinishSpec, ScheduleSpec } from '../../kernel/trigger/schedule.js'
import { openPause, type Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { onceSchedule } from '../../time/once.js'
import { bounded } from '../../time/schedule.js'
import { checkChained } from './check-job.js'
import { specOf, type TriggerKind } from '../trigger-kind.js'

/** Due one interval after the end of the previous run. */
export const afterFinish: TriggerKind = {
  name: 'after-finish',
  origin: 'trigger',
  isChain: true,
  instants: () => undefined,
  begin: (trigger, _current, now) => {
    const { startAt = 0, immediate, everyMs } = specOf(trigger, 'after-finish')
    const firstAt = Math.max(startAt, immediate === true ? now : now + everyMs)
    return { cursorAt: now, nextAt: trigger.enabled ? firstAt : undefined }
  },
  plan: (due, _facts, now) => planAfterFinish(due, now),
  close: (due, _facts, { now }) =>
    due.nextAt === undefined || due.nextAt > now ? undefined : planAfterFinish(due, now),
  checkJob: checkChained,
  describe: (trigger) => `${formatDuration(specOf(trigger, 'after-finish').everyMs)} after finish`,
}

/** There is one due instant at a time, written by the end of the previous run; the chain never breaks. */
export function planAfterFinish(due: DueTrigger, now: Instant): Tick {
  const spec = specOf(due.trigger, 'after-finish')
  const dueAt = due.nextAt ?? now
  const only = bounded(onceSchedule(dueAt), spec)
  const isOver = spec.endAt !== undefined && dueAt > spec.endAt
  const cursorAt = Math.max(due.cursorAt, dueAt)
  const window = { ...due, cursorAt: dueAt - 1 }
  const held = cutHolds({ due: window, schedule: only, until: now })
  const { clear, ranges: excluded } = cutCalendar({ due: window, schedule: only, clear: held.clear })
  const caught = catchUp({ due: window, schedule: only, clear, now })
  const runs = caught.candidates.map((at) => ({
    ...newTriggerRun(due, at),
    id: chainId(due, at),
    endEffect: chainedName(due),
  }))
  const pause = openPause(due, now)
  const paused = pause !== undefined && pause.fromAt <= dueAt
  // Without a run there is no end to count from, so the chain continues from this tick.
  const resumedAt = paused ? pause.untilAt : nextAllowed(spec, now)
  return {
    trigger: due.trigger.name,
    revision: due.revision,
    at: now,
    cursorAt,
    nextAt: runs.length > 0 || isOver ? undefined : resumedAt,
    chainRun: runs[0]?.id,
    runs,
    ranges: [...held.ranges, ...excluded, ...caught.ranges],
    supersede: undefined,
    ...runEntries(due.trigger, runs),
  }
}

function chainedName({ trigger, jobDefinition }: DueTrigger): string | undefined {
  const isTrigger = trigger.sla?.notOlderThanMs !== undefined
  return keepingName(chainEffect.name, { isJob: jobDefinition.sla?.notOlderThanMs !== undefined, isTrigger })
}

/** One interval later, or when the calendars allow it. */
function nextAllowed(
  { everyMs, calendar }: AfterFinishSpec & Pick<ScheduleSpec, 'calendar'>,
  now: Instant,
): Instant {
  const at = now + everyMs
  return calendar === undefined ? at : (firstAllowed(calendar, at) ?? at + YEAR_MS)
}

function chainId(due: DueTrigger, at: Instant): RunId {
  return runIdOf({ at, parts: ['after', due.trigger.name, due.chainRun ?? String(at)] })
}
