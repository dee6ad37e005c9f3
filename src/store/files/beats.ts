/**
 * Lease renewals. A renewal is a separate file that is written without the lock, so that a live worker keeps its lease
 * however long others hold the directory. A process that expires workers holds the lock and reads the renewals first.
 *
 * Why a worker that was just renewed is never expired: a renewal counts only if the previous lease had not ended when
 * the file was written. A process that checked earlier saw that lease, which was still valid; one that checks later
 * sees the new one. A renewal that comes later than that, for example after the machine slept, has to take the lock.
 */
import type { Clock } from '../../time/clock.js'
import { formatInstant, parseInstant, type Instant } from '../../time/instant.js'
import { TimeError } from '../../time/time-error.js'
import { noteTime, type Tables, type WorkerRow } from '../memory/tables.js'
import type { Beat } from '../port.js'
import type { Directory } from './layout/directory.js'
import { fileKey } from './layout/record.js'
import type { WorkerFile } from './layout/row-files.js'

/** When a worker renewed its lease, and until when it is valid. */
interface Renewal {
  readonly beatAt: Instant
  readonly leaseUntil: Instant
}

/** The content of a renewal file. */
interface BeatFile {
  readonly beat_at: string
  readonly lease_until: string
}

/** The renewals of a directory. */
export class Beats {
  readonly #directory: Directory
  readonly #clock: Clock

  constructor(options: { directory: Directory; clock: Clock }) {
    this.#directory = options.directory
    this.#clock = options.clock
  }

  /** The last renewal of a worker. */
  read(worker: string): Renewal | undefined {
    try {
      const file = readJson<BeatFile>(this.#directory, beatName(worker))
      if (file === undefined) return undefined
      return { beatAt: parseInstant(file.beat_at), leaseUntil: parseInstant(file.lease_until) }
    } catch (error) {
      // Renewals are never synced, so a power loss may leave an empty file; its worker is gone as well.
      if (error instanceof SyntaxError || error instanceof TimeError) return undefined
      throw error
    }
  }

  /** Renews a lease without the lock; returns `late` if the lease may have ended, which needs the lock. */
  renew(request: { worker: string; now: Instant; leaseMs: number }): Beat | 'late' {
    const { worker, leaseMs } = request
    const startMs = this.#clock.monotonicMs()
    const known = readJson<WorkerFile>(this.#directory, `workers/${fileKey(worker)}.json`)
    if (known === undefined) return 'late'
    if (known.gone) return 'expired'
    const last = this.read(worker)
    const endsAt = Math.max(parseInstant(known.lease_until), last?.leaseUntil ?? 0)
    const now = Math.max(request.now, last?.beatAt ?? 0)
    if (now > endsAt) return 'late'
    this.#write(worker, { beatAt: now, leaseUntil: now + leaseMs })
    // The process may have been suspended before the write, for longer than the lease.
    if (now + (this.#clock.monotonicMs() - startMs) > endsAt) return 'late'
    return known.draining === true ? 'draining' : 'alive'
  }

  /** The workers that have not been declared gone, read from their files. */
  live(): readonly WorkerFile[] {
    const files = this.#directory
      .list('workers')
      .map((name) => readJson<WorkerFile>(this.#directory, `workers/${name}`))
    return files.filter((file) => file !== undefined).filter(({ gone }) => !gone)
  }

  /** Copies renewals of these workers into the tables if their recorded leases end soon. Needs the lock. */
  record(tables: Tables, workers: Iterable<WorkerRow>, now: Instant): void {
    for (const worker of workers) {
      if (worker.isGone || worker.leaseUntil - now > worker.leaseMs / 3) continue
      const renewal = this.#newer(worker)
      if (renewal === undefined) continue
      noteTime(tables, renewal.beatAt)
      tables.epoch++
      worker.lastBeatAt = renewal.beatAt
      worker.leaseUntil = renewal.leaseUntil
      tables.touched?.workers.add(worker)
    }
  }

  /** A copy of the tables that includes every renewal. */
  shown(tables: Tables): Tables {
    const workers = [...tables.workers.values()].map((worker) => this.#renewed(worker))
    return { ...tables, workers: new Map(workers.map((worker) => [worker.id, worker])) }
  }

  #renewed(worker: WorkerRow): WorkerRow {
    const renewal = worker.isGone ? undefined : this.#newer(worker)
    if (renewal === undefined) return worker
    return { ...worker, lastBeatAt: renewal.beatAt, leaseUntil: renewal.leaseUntil }
  }

  /** The last renewal of a worker if it has not been recorded yet. */
  #newer(worker: WorkerRow): Renewal | undefined {
    const renewal = this.read(worker.id)
    if (renewal === undefined || renewal.beatAt <= (worker.lastBeatAt ?? 0)) return undefined
    return { ...renewal, leaseUntil: Math.max(renewal.leaseUntil, worker.leaseUntil) }
  }

  #write(worker: string, { beatAt, leaseUntil }: Renewal): void {
    const file: BeatFile = { beat_at: formatInstant(beatAt), lease_until: formatInstant(leaseUntil) }
    this.#directory.replaceVolatile(beatName(worker), `${JSON.stringify(file)}\n`)
  }
}

/** The file of a worker's renewals. */
export function beatName(worker: string): string {
  return `beats/${fileKey(worker)}.json`
}

function readJson<T>(directory: Directory, name: string): T | undefined {
  const text = directory.text(name)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}
