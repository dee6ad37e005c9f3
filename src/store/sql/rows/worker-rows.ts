import type { Signs, WorkerFact } from '../../../kernel/run/fact.js'

/** The public columns of a worker. */
export interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly roles: string
  readonly slots: number | null
  readonly started_at: number
  readonly beat_at: number | null
  readonly lease_until: number
  readonly is_draining: number
}

/** The lease of a worker of an older release, which did not record its last heartbeat. */
export const unsaidLeaseMs = 30_000

/** Converts a row to a worker. */
export function workerOf(row: WorkerRow): Omit<WorkerFact, 'isGone' | 'notices'> {
  const { id, host, pid, version, slots, started_at, beat_at, lease_until } = row
  const lease = { startedAt: started_at, lastBeatAt: beat_at ?? undefined, leaseUntil: lease_until }
  const roles = row.roles === '' ? [] : row.roles.split(',')
  return {
    id,
    host,
    pid,
    version,
    roles,
    slots: slots ?? undefined,
    ...lease,
    isDraining: row.is_draining === 1,
  }
}

/** The signs of life of the processes with one role. */
export interface SignsRow {
  readonly last_beat_at: number | null
  readonly living_since: number | null
}

/** Converts a row to signs of life. */
export function signsOfRow(row: SignsRow | undefined): Signs {
  return { lastBeatAt: row?.last_beat_at ?? undefined, livingSince: row?.living_since ?? undefined }
}
