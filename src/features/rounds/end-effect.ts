import type { Json } from '../../kernel/definition/json.js'
import type { EndedRun, EndEffect } from '../../kernel/run/end-effect.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import {
  cycleAfter,
  isSuccess,
  keptDeadlines,
  lastCheckChange,
  timingAfter,
  type Cycle,
  type EndedService,
  type ServiceTiming,
} from './round.js'

/** The end of a service writes its timing and the open cycle of its round, and wakes the round for the next service. */
export const serviceEffect: EndEffect = {
  name: 'service',
  code: 2,
  reads: ({ job, trigger = '' }) => [
    { kind: 'service', name: job, item: '' },
    { kind: 'cycle', name: trigger, item: '' },
  ],
  changes: (run, [timing, cycle]) => {
    const ended = endedService(run)
    return [
      ...(timing === undefined ? [] : [timingChange(timing as unknown as ServiceTiming, ended)]),
      ...(cycle === undefined ? [] : cycleChanges(run, cycle as unknown as Cycle, ended)),
    ]
  },
  wakesTrigger: true,
  keepsTrigger: (run, [, cycle]) => {
    const next = cycle === undefined ? undefined : cycleAfter(cycle as unknown as Cycle, endedService(run))
    return next !== undefined && next.queue.length === 0 && isSuccess(next)
  },
}

function endedService({ id, job, dueAt, state, error, reason }: EndedRun): EndedService {
  const isDone = state === 'done'
  const info = isDone ? 'success' : (error?.message ?? reason ?? state)
  return { run: id, service: job, checkedAt: dueAt, isDone, info }
}

function timingChange(timing: ServiceTiming, ended: EndedService): StateChange {
  const value = timingAfter(timing, ended) as unknown as Json
  return { kind: 'service', name: ended.service, item: '', value }
}

function cycleChanges(
  { trigger: round = '', at }: EndedRun,
  cycle: Cycle,
  ended: EndedService,
): StateChange[] {
  const next = cycleAfter(cycle, ended)
  if (next === undefined) return []
  const isOver = next.queue.length === 0
  const value = isOver ? undefined : (next as unknown as Json)
  const change: StateChange = { kind: 'cycle', name: round, item: '', value }
  return isOver ? [change, lastCheckChange(round, next), ...keptDeadlines(next, at)] : [change]
}
