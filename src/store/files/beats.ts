/**
 * Renewals of leases. A renewal is a file of its own, written without the lock, so that a live worker keeps its lease
 * however long others hold the directory. Whoever would expire a worker holds the lock and reads its renewal first.
 *
 * Why nobody is expired although it was just renewed: a renewal counts only if the lease before it had not ended when
 * the file was written. Whoever looked earlier saw that lease, which had not ended; whoever looks later sees the new
 * one. A renewal that comes later than that, as after the machine slept, has to take the lock.
 */
import type { Clock } from '../../time/clock.js'
import { formatInstant, parseInstant, type Instant } from '../../time/instant.js'
import { TimeError } from '../../time/time-error.js'
import { noteTime, type Tables, type WorkerRow } from '../memory/tables.js'
import type { Beat } from '../port.js'
import type { Directory } from './layout/directory.js'
import { fileKey } from './layout/record.js'
import type { WorkerFile } from './layout/row-files.js'

/** When a worker renewed its lease, and until when. */
interface Renewal {
  readonly beatAt: Instant
  readonly leaseUntil: Instant
}

/** A renewal as it is written. */
interface BeatFile {
  readonly beat_at: string
  readonly lease_until: string
}

/** The renewals in a directory. */
export class Beats {
  readonly #directory: Directory
  readonly #clock: Clock

  constructor(options: { directory: Directory; clock: Clock }) {
    this.#directory = options.directory
    this.#clock = options.clock
  }

  /** The last renewal of a worker that was written here. */
  read(worker: string): Renewal | undefined {
    try {
      const file = readJson<BeatFile>(this.#directory, beatName(worker))
      if (file === undefined) return undefined
      return { beatAt: parseInstant(file.beat_at), leaseUntil: parseInstant(file.lease_until) }
    } catch (error) {
      // It is never synced, so that a loss of power may leave an empty one: its worker is gone as well.
      if (error instanceof SyntaxError || error instanceof TimeError) return undefined
      throw error
    }
  }

  /** Renews a lease without the lock; `late` where that is not enough, since the lease may be over. */
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
    // The process may have been stopped before it wrote, for longer than the lease.
    if (now + (this.#clock.monotonicMs() - startMs) > endsAt) return 'late'
    return known.draining === true ? 'draining' : 'alive'
  }

  /** The workers that nobody has given up, as their files show them. */
  live(): readonly WorkerFile[] {
    const files = this.#directory
      .list('workers')
      .map((name) => readJson<WorkerFile>(this.#directory, `workers/${name}`))
    return files.filter((file) => file !== undefined).filter(({ gone }) => !gone)
  }

  /** Takes renewals of these workers into the tables, where the recorded leases are nearly over. Needs the lock. */
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

  /** The tables as they would be with every renewal taken in; nothing is changed. */
  shown(tables: Tables): Tables {
    const workers = [...tables.workers.values()].map((worker) => this.#renewed(worker))
    return { ...tables, workers: new Map(workers.map((worker) => [worker.id, worker])) }
  }

  #renewed(worker: WorkerRow): WorkerRow {
    const renewal = worker.isGone ? undefined : this.#newer(worker)
    if (renewal === undefined) return worker
    return { ...worker, lastBeatAt: renewal.beatAt, leaseUntil: renewal.leaseUntil }
  }

  /** The last renewal of a worker, where it is not recorded yet. */
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

/** Where the renewals of a worker are. */
export function beatName(worker: string): string {
  return `beats/${fileKey(worker)}.json`
}

function readJson<T>(directory: Directory, name: string): T | undefined {
  const text = directory.text(name)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}
