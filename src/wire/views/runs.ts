import type { PendingReason } from '../../kernel/run/pending.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import type { StoredLogLine } from '../../store/port.js'
import { pick } from '../to-json.js'
import { holdView } from './definitions.js'

/** A run as `--json` prints it. */
export function runView(run: Run) {
  return { ...pick(run, runFields), error: errorView(run.error) }
}

const runFields = [
  'id',
  'job',
  'trigger',
  'origin',
  'state',
  'reason',
  'dueAt',
  'runAt',
  'createdAt',
  'claimedAt',
  'startedAt',
  'finishedAt',
  'attempt',
  'failures',
  'crashes',
  'priority',
  'partition',
  'uniqueKey',
  'labels',
  'worker',
  'waitsFor',
  'cancelRequested',
  'payload',
  'result',
] as const

/** The error of a run or an attempt as `--json` prints it. */
export function errorView(error: Run['error']) {
  return error === undefined ? undefined : pick(error, ['code', 'message', 'stack', 'details'])
}

/** One attempt of a run. */
export function attemptView(attempt: Attempt) {
  const fields = ['attempt', 'end', 'worker', 'claimedAt', 'startedAt', 'endedAt'] as const
  return { ...pick(attempt, fields), error: errorView(attempt.error) }
}

/** One line of a log. */
export function logLineView(line: StoredLogLine) {
  return pick(line, ['seq', 'at', 'attempt', 'level', 'text'])
}

/** Why a run is pending. */
export function pendingView(reason: PendingReason): unknown {
  if (reason.kind === 'retry') return { ...reason, error: errorView(reason.error) }
  if (reason.kind === 'limit') return { ...reason, key: reason.key }
  return 'hold' in reason ? { ...reason, hold: holdView(reason.hold) } : reason
}
