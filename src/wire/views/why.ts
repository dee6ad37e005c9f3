import type { Explanation, Why } from '../../engine/explain/why.js'
import type { Run } from '../../kernel/run/run.js'
import { pick } from '../to-json.js'
import { breachView } from './breaches.js'
import { holdView } from './definitions.js'
import { runView } from './runs.js'

/** The fields of a range of due instants that did not run. */
export const rangeFields = ['firstAt', 'lastAt', 'reason', 'rule', 'version', 'blocker', 'detail'] as const

/** Why each run is pending. */
export type PendingViews = (run: Run) => readonly unknown[]

/** The explanations of the due instants in a range of time. */
export function whyView(why: Why, pending: PendingViews) {
  const { explanations, beside } = why
  return {
    ...pick(why, ['trigger', 'fromAt', 'untilAt']),
    explanations: explanations.map((one) => explanationView(one, pending)),
    beside: beside.map((run) => ({ ...runView(run), pending: pending(run) })),
    breaches: why.breaches.map(breachView),
    ...pick(why, ['more', 'earlier']),
  }
}

function explanationView(one: Explanation, pending: PendingViews) {
  switch (one.kind) {
    case 'run':
      return { ...one, run: runView(one.run), pending: pending(one.run) }
    case 'range': {
      const { kind, range, blocker, lastSignAt } = one
      const { recordedAt } = range
      return { kind, ...pick(range, rangeFields), recordedAt, blockerState: blocker?.state, lastSignAt }
    }
    case 'held':
      return { kind: one.kind, firstAt: one.at, lastAt: one.lastAt, hold: holdView(one.hold) }
    case 'excluded':
      return { kind: one.kind, firstAt: one.at, lastAt: one.lastAt, ...one.by }
    case 'waiting':
      return { ...one, hold: one.hold && holdView(one.hold), lastSignAt: one.lastSignAt }
    case 'not-due':
    case 'not-defined':
    case 'future':
    case 'unexplained':
      return one
  }
}
