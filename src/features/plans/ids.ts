import { createHash } from 'node:crypto'
import { formatInstant, type Instant } from '../../time/instant.js'
import { formatCivil } from '../../time/local-time.js'
import type { Zone } from '../../time/zone.js'

/** The names that a plan gives one of its entries: the same on every host and in every pass. */
export interface PlanIds {
  /** Twelve hexadecimal digits. */
  readonly jobId: string
  /** The base, and the job id behind it. */
  readonly runId: string
  /** The prefix, where there is one, and the due minute in the plan's zone. */
  readonly runIdBase: string
}

/** The ids of an entry, byte for byte as other programs that read the same plans compute them. */
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
