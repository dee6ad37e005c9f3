import type { Instant } from '../../time/instant.js'
import type { Run } from './run.js'

/** Runs that failed in the same way: the same code, and the same message apart from numbers, ids and quoted texts. */
export interface ErrorGroup {
  readonly code: string
  /** The message with `…` for the parts that differ between runs. */
  readonly shape: string
  readonly count: number
  /** The due instant of the oldest one. */
  readonly firstDueAt: Instant
  /** The due instant of the newest one. */
  readonly lastDueAt: Instant
  readonly jobs: readonly string[]
  /** The newest one. */
  readonly example: Run
}

/** How many characters of a message are compared. */
const longestShape = 300

/** How many jobs a group lists. */
const mostJobs = 10

/** Groups failed runs, the largest group first. The input is sorted from the newest run on. */
export function groupErrors(runs: readonly Run[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup & { readonly jobs: string[] }>()
  for (const run of runs) {
    const code = run.error?.code ?? ''
    const shape = shapeOf(run.error?.message ?? run.reason ?? '')
    const key = JSON.stringify([code, shape])
    const group = groups.get(key)
    const jobs = group?.jobs ?? []
    if (jobs.length < mostJobs && !jobs.includes(run.job)) jobs.push(run.job)
    groups.set(key, {
      code,
      shape,
      count: (group?.count ?? 0) + 1,
      firstDueAt: Math.min(group?.firstDueAt ?? run.dueAt, run.dueAt),
      lastDueAt: Math.max(group?.lastDueAt ?? run.dueAt, run.dueAt),
      jobs,
      example: group?.example ?? run,
    })
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count || b.lastDueAt - a.lastDueAt)
}

/** The shape of a message: its first line without numbers, ids and quoted texts. */
export function shapeOf(message: string): string {
  const line = message.slice(0, longestShape).split('\n', 1)[0] ?? ''
  return line
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '…')
    .replaceAll(/[\w-]*\d[\w-]*/g, '…')
    .replaceAll(/…(?:[.:/,-]*…)+/g, '…')
    .trim()
}
