import { RotaError } from '../../kernel/definition/errors.js'
import { endEffectFor, slotsFor } from '../../kernel/identity/occurrence.js'
import { runDeadlines } from '../../kernel/sla/deadline.js'
import { runIdOf, type RunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import type { NewRun, Run } from '../../kernel/run/run.js'
import { mostChangedAtOnce, type RunChange, type RunsOfChange } from '../../store/change-runs.js'
import type { Store } from '../../store/port.js'
import { errorPart } from '../../text/error-text.js'
import type { Instant } from '../../time/instant.js'
import { afterBatch, bulkKey, skipReasonOf, toValue, type Bulk, type ItemEnd } from './bulk.js'
import { nextIds, type StoredBulk } from './store-bulks.js'

/**
 * Performs the next batch of a bulk. Any number of processes may do so at the same time, and each may be killed: the
 * cursor of the bulk moves in the transaction that changes or records the runs, so each batch is performed once. A batch
 * that throws is tried once more run by run: runs that throw again are counted as failed, and the bulk continues.
 */
export async function performBatch(
  store: Store,
  stored: StoredBulk,
  now: Instant,
): Promise<'moved' | 'stale'> {
  const ids = await nextIds(store, stored.bulk, mostChangedAtOnce)
  // Removed together with the bulk; the next read of the bulk shows that.
  if (ids.length === 0) return 'stale'
  try {
    return (await changeAll(store, stored, { ids, now })) === 'stale' ? 'stale' : 'moved'
  } catch (error) {
    if (isOfStore(error)) throw error
    return await oneByOne(store, stored, { ids, now })
  }
}

/** The parameters of a batch. */
interface Batch {
  readonly ids: readonly RunId[]
  readonly now: Instant
}

async function oneByOne(store: Store, stored: StoredBulk, { ids, now }: Batch): Promise<'moved' | 'stale'> {
  let current = stored
  for (const id of ids) {
    const next = await changeOne(store, current, { ids: [id], now })
    if (next === 'stale') return 'stale'
    current = next
  }
  return 'moved'
}

async function changeOne(store: Store, stored: StoredBulk, batch: Batch): Promise<StoredBulk | 'stale'> {
  try {
    return await changeAll(store, stored, batch)
  } catch (error) {
    if (isOfStore(error)) throw error
    const failed = errorPart(error instanceof Error ? error.message : String(error))
    return await moved(store, stored, afterBatch(stored.bulk, batch.ids, [{ failed }], batch.now), batch.now)
  }
}

/** If the store is unreachable or full, no run has failed: the batch is tried again later. */
function isOfStore(error: unknown): boolean {
  return error instanceof RotaError && error.code.startsWith('STORE_')
}

/** Changes the runs of a batch and moves the cursor of its bulk, in one transaction; returns the new bulk. */
async function changeAll(
  store: Store,
  stored: StoredBulk,
  { ids, now }: Batch,
): Promise<StoredBulk | 'stale'> {
  const { bulk, revision } = stored
  const { action } = bulk
  const again = action === 'run' ? await runsAgain(store, bulk, ids) : undefined
  let after = bulk
  const entry = {
    ...bulkKey(bulk.id),
    revision,
    valueAfter: (answers: readonly RunChange[]) => {
      after = afterBatch(bulk, ids, again?.ends ?? answers.map(endOf), now)
      return toValue(after)
    },
  }
  const reason = bulk.reason ?? `bulk ${bulk.id}`
  const change: RunsOfChange =
    action === 'run' ? { action: 'record', newRuns: again?.runs ?? [] } : { action, runs: ids, reason }
  const answer = await store.changeRuns({ ...change, now, entry })
  return answer === 'stale' ? 'stale' : { bulk: after, revision: revision + 1 }
}

async function moved(
  store: Store,
  { revision }: StoredBulk,
  bulk: Bulk,
  now: Instant,
): Promise<StoredBulk | 'stale'> {
  const changes = [{ ...bulkKey(bulk.id), revision, value: toValue(bulk) }]
  const answer = await store.changeState({ changes, now })
  return answer === 'changed' ? { bulk, revision: revision + 1 } : 'stale'
}

function endOf(answer: RunChange): ItemEnd {
  switch (answer) {
    case 'pending':
    case 'cancelled':
    case 'requested':
    case 'advanced':
    case 'recorded':
    case 'existing':
      return 'done'
    case 'not-final':
    case 'final':
    case 'not-waiting':
    case 'absent':
      return answer
  }
}

/** New runs like those of a batch, and the result for each of its runs. */
async function runsAgain(
  store: Store,
  bulk: Bulk,
  ids: readonly RunId[],
): Promise<{ readonly runs: readonly NewRun[]; readonly ends: readonly ItemEnd[] }> {
  const jobs = new Map((await store.jobs()).map(({ job }) => [job.name, job]))
  const runs: NewRun[] = []
  const ends = await Promise.all(
    ids.map(async (id): Promise<ItemEnd> => {
      const run = await store.run(id)
      if (run === undefined) return 'absent'
      const job = jobs.get(run.job)
      if (job === undefined) return 'job-unknown'
      const reason = skipReasonOf('run', run, bulk.createdAt)
      if (reason === undefined) runs.push(newRunLike(run, job, bulk))
      return reason ?? 'done'
    }),
  )
  return { runs, ends }
}

/** A run of the same job with the same payload and partition, due at the start of the bulk. */
function newRunLike(run: Run, job: Job, { id, createdAt }: Bulk): NewRun {
  const { priority, partition, payload, labels } = run
  const keyed = run.slots.filter(({ key }) => key.startsWith(`key:${job.name}=`))
  return {
    id: runIdOf({ at: createdAt, parts: ['bulk', id, run.id] }),
    job: job.name,
    origin: 'manual',
    trigger: run.trigger,
    version: run.version,
    dueAt: createdAt,
    runAt: createdAt,
    priority,
    partition,
    payload,
    slots: [...slotsFor({ job, partition }), ...keyed],
    ...endEffectFor(job),
    ...runDeadlines({ job }, createdAt),
    ...(labels === undefined ? {} : { labels }),
  }
}
