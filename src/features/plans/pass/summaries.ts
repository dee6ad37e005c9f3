import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readUserFileSync } from '../../../formats/user-file.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import type { Plan } from '../definition.js'
import { systemClock } from '../../../time/clock.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { formatLocal } from '../../../time/local-time.js'
import { zoneOf } from '../../../time/zone.js'
import type { QueueError } from '../../../kernel/job/pipeline.js'
import type { Pass, PassRequest } from './schedule-pass.js'

/** The summary that a pass of the scheduler writes for an audit. */
export type ScheduleSummary = ReturnType<typeof scheduleSummary>

/** The summary of a pass. */
export function scheduleSummary(
  pass: Pass,
  about: Omit<PassRequest, 'plan' | 'source'> & { readonly planPath: string; readonly checkedAt: Instant },
) {
  return {
    schema_version: 'v1',
    engine: 'scheduler',
    checked_at: formatInstant(about.checkedAt),
    plan_path: about.planPath,
    now: formatInstant(about.now),
    window_minutes: about.windowMs / 60_000,
    look_back_minutes: about.lookBackMs / 60_000,
    enqueued_job_ids: pass.enqueued.map(({ jobId }) => jobId),
    skipped_entries: pass.skipped.map(({ entry, code, message }) => ({
      publish_at: entry.publishAt,
      pipeline_path: entry.pipelinePath,
      run_id: entry.runId,
      code,
      message,
    })),
    dry_run: about.isDry,
    passes: [] as readonly Readonly<Record<string, unknown>>[],
  }
}

/** More than one pass per second of a day. */
const mostPasses = 100_000

/** Writes the summary of a day: the newest pass first, then the earlier ones of that day. Several schedulers may write at once. */
export async function writeScheduleSummary(
  outputDirectory: string,
  summary: ScheduleSummary,
  { plan, now }: { readonly plan: Plan; readonly now: Instant },
): Promise<void> {
  const day = formatLocal(now, zoneOf(plan.timezone)).slice(0, 10).replaceAll('-', '')
  const folder = join(outputDirectory, 'scheduler')
  const path = join(folder, 'artifacts', `schedule_summary_${day}.json`)
  mkdirSync(dirname(path), { recursive: true })
  // Loaded only here: the summary of a run does not need it.
  const { DirectoryLock } = await import('../../../store/files/lock.js')
  // Without the lock, two writers would each lose the pass of the other.
  const lock = new DirectoryLock({ path: join(folder, 'summary.lock'), clock: systemClock, url: path })
  try {
    await lock.hold(() =>
      writeWhole(path, { ...summary, passes: [...passesBefore(path)].slice(-mostPasses) }),
    )
  } finally {
    lock.close()
  }
}

function passesBefore(path: string): ScheduleSummary['passes'] {
  const before = readJson(path)
  if (!isMap(before)) return []
  const { now, dry_run, enqueued_job_ids, passes } = before
  const earlier: unknown[] = Array.isArray(passes) ? passes : []
  return [...earlier.filter(isMap), { now, dry_run, enqueued_job_ids }]
}

/** The summary that a worker writes about its run, or about finding none. */
export interface WorkerSummary {
  readonly schema_version: 'v1'
  readonly engine: 'worker'
  readonly checked_at: string
  readonly job_id: string
  readonly run_id: string
  readonly pipeline_path: string
  readonly decision: 'done' | 'failed' | 'skipped'
  readonly error: QueueError | null
  readonly dry_run: boolean
  readonly attempts: number
  readonly duration_ms: number
}

/** Writes the summary of a worker. */
export function writeWorkerSummary(outputDirectory: string, summary: WorkerSummary): void {
  const name = `worker_summary_${encodeURIComponent(summary.job_id)}.json`
  writeWhole(join(outputDirectory, 'worker', 'artifacts', name), summary)
}

/** The largest earlier summary that is read, in bytes. */
const mostBytes = 67_108_864

function readJson(path: string): unknown {
  const found = readUserFileSync(path, mostBytes)
  if (found.kind === 'absent') return undefined
  if (found.kind !== 'read') throw new Error(`${path} cannot be read: ${found.why}`)
  try {
    return JSON.parse(found.bytes.toString('utf8'))
  } catch {
    // The file is not a summary, so it is kept under another name.
    renameSync(path, `${path}.unreadable`)
    return undefined
  }
}

/** Replaces a file atomically; each process has a temporary file of its own. */
function writeWhole(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  const file = openSync(temporary, 'w')
  try {
    writeSync(file, `${JSON.stringify(value)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}
