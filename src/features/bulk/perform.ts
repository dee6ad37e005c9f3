import { endEffectFor, slotsFor } from '../../kernel/identity/occurrence.js'
import { runIdOf, type RunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import type { NewRun, Run } from '../../kernel/run/run.js'
import { mostChangedAtOnce, type RunChange } from '../../store/change-runs.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { afterBatch, bulkKey, skipReasonOf, toValue, type Bulk, type ItemEnd } from './bulk.js'
import { nextIds, type StoredBulk } from './store-bulks.js'

/**
 * Performs the next batch of a bulk. Any number of processes may do so at the same time, and each of them may be killed:
 * the cursor of the bulk moves in the transaction that changes the runs, so that one of them does each batch. New runs
 * get ids that follow from the bulk and the run, so that recording them again changes nothing.
 */
export async function performBatch(
  store: Store,
  { bulk, revision }: StoredBulk,
  now: Instant,
): Promise<'moved' | 'stale'> {
  const { action } = bulk
  const ids = await nextIds(store, bulk, mostChangedAtOnce)
  // Removed together with the bulk; whoever reads the bulk again sees that.
  if (ids.length === 0) return 'stale'
  const key = bulkKey(bulk.id)
  if (action === 'run') {
    const ends = await runAgain(store, bulk, ids)
    const value = toValue(afterBatch(bulk, ids, ends, now))
    const answer = await store.changeState({ changes: [{ ...key, revision, value }], now })
    return answer === 'changed' ? 'moved' : 'stale'
  }
  const answer = await store.changeRuns({
    action,
    runs: ids,
    now,
    reason: bulk.reason ?? `bulk ${bulk.id}`,
    entry: {
      ...key,
      revision,
      valueAfter: (answers) => toValue(afterBatch(bulk, ids, answers.map(endOf), now)),
    },
  })
  return answer === 'stale' ? 'stale' : 'moved'
}

function endOf(answer: RunChange): ItemEnd {
  switch (answer) {
    case 'pending':
    case 'cancelled':
    case 'requested':
    case 'advanced':
      return 'done'
    case 'not-final':
    case 'final':
    case 'not-waiting':
    case 'absent':
      return answer
  }
}

/** Records new runs like those of a batch. */
async function runAgain(store: Store, bulk: Bulk, ids: readonly RunId[]): Promise<readonly ItemEnd[]> {
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
  if (runs.length > 0) await store.enqueue({ runs, now: bulk.createdAt })
  return ends
}

/** A run of the same job with the same payload and partition, due when its bulk began. */
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
    ...(labels === undefined ? {} : { labels }),
  }
}
