import { createHash } from 'node:crypto'
import { formatInstant, type Instant } from '../../time/instant.js'
import { formatCivil } from '../../time/local-time.js'
import type { Zone } from '../../time/zone.js'

/** The ids of an entry: the same on each host and in each pass. */
export interface PlanIds {
  /** Twelve hexadecimal digits. */
  readonly jobId: string
  /** The base followed by the job id. */
  readonly runId: string
  /** The prefix, if any, and the due minute in the zone of the plan. */
  readonly runIdBase: string
}

/** Computes the ids of an entry exactly as other programs do that read the same plans. */
export function planIdsOf(entry: {
  readonly dueAt: Instant
  readonly pipelinePath: string
  readonly prefix: string | undefined
  readonly zone: Zone
}): PlanIds {
  const { dueAt, pipelinePath, prefix, zone } = entry
  const minute = minuteOf(zone.toLocal(dueAt))
  const runIdBase = prefix === undefined ? minute : `${prefix}_${minute}`
  const text = [formatInstant(dueAt), pipelinePath, runIdBase].join('|')
  const jobId = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { jobId, runId: `${runIdBase}_${jobId}`, runIdBase }
}

/** `20260105_0900` of a civil time. */
function minuteOf(localMs: number): string {
  const [day = '', time = ''] = formatCivil(localMs).split('T')
  return `${day.replaceAll('-', '')}_${time.slice(0, 5).replace(':', '')}`
}
