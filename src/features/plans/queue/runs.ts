import { retryRun } from '../../../engine/retry-run.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { Run } from '../../../kernel/run/run.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { makeQueue, openQueue, importForeign, type Queue } from './directory.js'
import { queueFiles, queueRuns, type FiledRun, type QueueAt } from './files.js'
import { allRuns, listQueue, type QueueItem } from './list.js'

/** Opens a queue to change it; undefined if there is no queue. */
export async function changeQueue(queue: Queue): Promise<Store | undefined> {
  const opened = await openQueue(queue)
  // Another program may have created and filled the directories before Rota was used.
  const isFilled = opened === undefined && queueFiles(queue, systemClock.now()).length > 0
  return isFilled ? await makeQueue(queue) : opened
}

/** Finds a run by its `job_id`, `run_id` or id: its item, and the run itself if the store has it. */
export async function lookUp(
  store: Store | undefined,
  id: string,
  queue: QueueAt,
): Promise<{ readonly item: QueueItem; readonly run: Run | undefined }> {
  const items = (await listQueue(store, queue)).filter(
    (item) => item.file === undefined && [item.id, item.jobId, item.runId].includes(id),
  )
  const item = only(items, id)
  return { item, run: await store?.run(item.id) }
}

/** Finds a run of the store by its `job_id`, `run_id` or id. */
export async function findQueued(store: Store, id: string, queue: QueueAt): Promise<Run> {
  await importForeign(store)
  const { item, run } = await lookUp(store, id, queue)
  if (run !== undefined) return run
  throw new RotaError(
    'RUN_UNKNOWN',
    `${item.runId} belongs to another program and is ${item.state}: only runs in pending, or in running after their lease, are imported`,
  )
}

/** Makes a failed or cancelled run pending again. */
export async function retryQueued(store: Store, run: Run): Promise<Run> {
  return await retryRun(store, run, { now: systemClock.now() })
}

/** Counts the files of other programs that the store has not imported. */
export async function foreignFiles(
  store: Store,
  queue: QueueAt,
  states: readonly FiledRun['state'][],
): Promise<number> {
  const filed = queueRuns(queue, systemClock.now(), states)
  const known = new Set((await allRuns(store)).map((run) => run.id))
  return filed.filter(({ id }) => !known.has(id)).length
}

function only(items: readonly QueueItem[], id: string): QueueItem {
  const [item, second] = items
  if (item === undefined) throw new RotaError('RUN_UNKNOWN', `no run of the queue has the id ${id}`)
  if (second === undefined) return item
  const ids = items.map((one) => one.id).join(', ')
  throw new RotaError('RUN_UNKNOWN', `more than one run of the queue has the id ${id}: ${ids}`)
}
