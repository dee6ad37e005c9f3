import type { RotaError } from '../../kernel/definition/errors.js'
import { isFinal, type NewRun, type Run } from '../../kernel/run/run.js'
import type { Enqueued, Store, StoredJob } from '../../store/port.js'

/** The methods that only read. All others are refused, so that a new method is not allowed by mistake. */
const readers: ReadonlySet<string> = new Set<keyof Store>([
  'jobs',
  'queues',
  'triggers',
  'fingerprints',
  'sources',
  'versions',
  'due',
  'dueByName',
  'nextTickAt',
  'seen',
  'holds',
  'stateEntries',
  'facts',
  'run',
  'runsById',
  'runsByPrefix',
  'runs',
  'runsPage',
  'countRuns',
  'counts',
  'attempts',
  'logs',
  'ledger',
  'runInstants',
  'runsPage',
  'signsOf',
  'pulse',
  'triggersPage',
  'recentRuns',
  'lanes',
  'tally',
  'ledgerPage',
  'troubled',
  'series',
  'late',
  'countRuns',
  'auditPage',
  'workers',
  'watch',
  'version',
  'stamp',
  'health',
  'close',
])

/** The same store, read-only except for the given methods. */
export function refuseWrites(store: Store, error: RotaError, written: Partial<Store> = {}): Store {
  return withoutWrites(store, written, error)
}

/**
 * The same store for a dry run: it returns the results of changes and writes nothing. Jobs that the app would write
 * first are included.
 */
export function rehearsal(store: Store, own: readonly StoredJob[]): Store {
  const ownNames = new Set(own.map(({ job }) => job.name))
  const answers: Partial<Store> = {
    jobs: async () => [...(await store.jobs()).filter(({ job }) => !ownNames.has(job.name)), ...own],
    defineJobs: async () => [],
    defineTriggers: async (batch) => {
      const names = batch.map(({ name }) => name)
      const active = await store.triggers({ names, active: true })
      return batch.map(({ name, source }) => {
        const taken = active.find((one) => one.trigger.name === name && one.source !== source)
        return taken === undefined ? 'defined' : { conflict: taken.source }
      })
    },
    tick: async (batch) => batch.map(() => 'ticked'),
    changeState: async () => 'changed',
    enqueue: async ({ runs }) => await Promise.all(runs.map((run) => enqueueAnswer(store, run))),
    cancel: async ({ run }) => cancelAnswer(await store.run(run)),
  }
  return withoutWrites(store, answers, new Error('a dry run was about to write'))
}

function withoutWrites(store: Store, answers: Partial<Store>, error: Error): Store {
  const readOnly: Store = new Proxy(store, {
    get(target, key) {
      // An audited store is read-only, too.
      if (key === 'audited') return () => readOnly
      if (key in answers) return answers[key as keyof Store]
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (!readers.has(String(key))) return () => Promise.reject(error)
      return (value as (...args: unknown[]) => unknown).bind(target)
    },
  })
  return readOnly
}

/** How many unfinished runs of a job are searched for the unique key. */
const mostUnfinished = 1000

async function enqueueAnswer(store: Store, { id, job, uniqueKey }: NewRun): Promise<Enqueued> {
  if ((await store.run(id)) !== undefined) return { id, created: false }
  if (uniqueKey === undefined) return { id, created: true }
  const pages = (['pending', 'running'] as const).map((state) =>
    store.runs({ job, state, limit: mostUnfinished }),
  )
  const holder = (await Promise.all(pages)).flat().find((run) => run.uniqueKey === uniqueKey)
  return holder === undefined ? { id, created: true } : { id: holder.id, created: false }
}

function cancelAnswer(run: Run | undefined): Awaited<ReturnType<Store['cancel']>> {
  if (run === undefined) return 'absent'
  if (isFinal(run.state)) return 'final'
  return run.state === 'running' ? 'requested' : 'cancelled'
}
