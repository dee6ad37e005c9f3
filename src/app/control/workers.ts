import type { DryRun } from '../../kernel/definition/dry-run.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** A process as the store knows it, and whether it is alive. */
export interface WorkerInfo extends WorkerStatus {
  /** `late`: a heartbeat is missing. `gone`: its lease has expired, and its runs are taken over. */
  readonly standing: 'live' | 'late' | 'gone'
}

/** The result of a request to drain one process. `unable`: its release does not support draining. */
export interface Drained {
  readonly worker: WorkerInfo
  readonly outcome: 'changed' | 'already' | 'gone' | 'unable'
}

/** Every process that has not retired, host by host. */
export async function workersOf(store: Store, now: Instant): Promise<readonly WorkerInfo[]> {
  const known = await store.workers()
  return known
    .map((worker) => ({ ...worker, standing: standingOf(worker, now) }))
    .toSorted((a, b) => compare(a.host, b.host) || a.pid - b.pid || a.startedAt - b.startedAt)
}

/** Whether a process is a live worker that claims runs. */
export function takesWork({ roles, isDraining, leaseUntil }: WorkerStatus, now: Instant): boolean {
  return roles.includes('worker') && !isDraining && leaseUntil >= now
}

/** Drains the processes of a host, or one named process, or ends their draining. */
export async function drainAll(
  store: Store,
  request: { readonly target: string; readonly isDraining: boolean; readonly now: Instant } & DryRun,
): Promise<readonly Drained[]> {
  const { target, now } = request
  const workers = await workersOf(store, now)
  const meant = workers.filter((worker) => workerNames(worker).includes(target))
  if (meant.length === 0) {
    const known = workers.flatMap(workerNames)
    const message = noneNamed('process or host is named', target, { known, list: 'rota workers' })
    throw new RotaError('WORKER_UNKNOWN', message)
  }
  const drained: Drained[] = []
  for (const worker of meant) drained.push({ worker, outcome: await drainOne(store, worker, request) })
  return drained
}

async function drainOne(
  store: Store,
  worker: WorkerInfo,
  { isDraining, dryRun }: { readonly isDraining: boolean } & DryRun,
): Promise<Drained['outcome']> {
  if (worker.standing === 'gone') return 'gone'
  // A release that does not record its slots does not support draining.
  if (worker.slots === undefined) return 'unable'
  if (dryRun === true) return worker.isDraining === isDraining ? 'already' : 'changed'
  const answer = await store.drain({ worker: worker.id, isDraining })
  return answer === 'absent' ? 'gone' : answer
}

/** The names of a process: its id, its host, and its host with process id. */
export function workerNames({ id, host, pid }: WorkerStatus): readonly string[] {
  return [id, host, `${host}:${pid}`]
}

/** A heartbeat is due every third of the lease; a process that misses one is late. */
function standingOf({ lastBeatAt, leaseUntil }: WorkerStatus, now: Instant): WorkerInfo['standing'] {
  if (leaseUntil < now) return 'gone'
  if (lastBeatAt === undefined) return 'live'
  return now > lastBeatAt + (2 / 3) * (leaseUntil - lastBeatAt) ? 'late' : 'live'
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
