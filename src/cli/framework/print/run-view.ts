import type { Run } from '../../../kernel/run/run.js'
import { pick } from './json.js'

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
