import type { Signs, WorkerFact } from '../../../kernel/run/fact.js'

/** The columns of a worker that others may know. */
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

/** How long the lease of a worker counts whose release did not say when it renewed it. */
export const unsaidLeaseMs = 30_000

/** A worker as its row says. */
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

/** What the processes with one role left behind. */
export interface SignsRow {
  readonly last_beat_at: number | null
  readonly living_since: number | null
}

/** The signs as their row says. */
export function signsOfRow(row: SignsRow | undefined): Signs {
  return { lastBeatAt: row?.last_beat_at ?? undefined, livingSince: row?.living_since ?? undefined }
}
