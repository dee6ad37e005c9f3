import { isDeepStrictEqual } from 'node:util'
import type { Run, RunState } from '../kernel/run/run.js'

/** Which runs are meant; a payload matches if it has at least these fields. */
export interface RunMatch {
  readonly job?: string | undefined
  readonly trigger?: string | undefined
  readonly state?: RunState | undefined
  readonly payload?: unknown
}

/** Whether a run matches. */
export function isOf(run: Run, match: RunMatch): boolean {
  if (match.job !== undefined && run.job !== match.job) return false
  if (match.trigger !== undefined && run.trigger !== match.trigger) return false
  if (match.state !== undefined && run.state !== match.state) return false
  return match.payload === undefined || hasAtLeast(run.payload, match.payload)
}

/** Whether a value has everything that another one has. */
function hasAtLeast(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
    return isDeepStrictEqual(value, wanted)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(wanted).every(([key, one]) =>
    hasAtLeast((value as Record<string, unknown>)[key], one),
  )
}

/** The newest runs, one per line. */
export function listed(runs: readonly Run[]): string {
  const lines = runs.slice(-20).map((run) => {
    const { job, trigger, state, payload } = run
    const origin = trigger === undefined ? '' : ` of ${trigger}`
    return `  ${job}${origin}, ${state}, payload ${JSON.stringify(payload) ?? 'none'}`
  })
  return lines.length === 0 ? '  (none)' : lines.join('\n')
}
