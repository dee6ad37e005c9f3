import type { Run } from '../../kernel/run/run.js'
import { pick } from '../../wire/to-json.js'

/** A run without its payload and result, as lists show it. */
export function runBrief(run: Run) {
  const { error } = run
  return { ...pick(run, briefFields), error: error && { code: error.code, message: error.message } }
}

const briefFields = [
  'id',
  'job',
  'trigger',
  'origin',
  'state',
  'reason',
  'dueAt',
  'runAt',
  'startedAt',
  'finishedAt',
  'attempt',
  'failures',
  'partition',
  'worker',
  'waitsFor',
] as const
