import type { Queue } from '../../kernel/job/job.js'
import type { StateKey } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** The queues of a source. */
interface OwnQueues {
  readonly name: string
  readonly queues: readonly Queue[]
}

const mostSources = 10_000

/** Records which queues a source limits, before it does: a limit it drops later is found even if the process dies. */
export async function rememberQueues(store: Store, { name, queues }: OwnQueues, now: Instant): Promise<void> {
  const { own } = await limitedQueues(store, name)
  await write(store, { name, own, names: [...new Set([...own, ...queues.map((queue) => queue.name)])], now })
}

/** Removes the limits that a source has dropped; limits of other sources stay. */
export async function dropQueues(store: Store, { name, queues }: OwnQueues, now: Instant): Promise<void> {
  const { own, others } = await limitedQueues(store, name)
  const names = queues.map((queue) => queue.name)
  const dropped = own.filter((queue) => !names.includes(queue) && !others.has(queue))
  const unlimited = dropped.map((queue) => ({ name: queue, concurrency: undefined, limit: undefined }))
  if (dropped.length > 0) await store.defineJobs({ source: name, jobs: [], queues: unlimited, now })
  await write(store, { name, own, names, now })
}

async function limitedQueues(
  store: Store,
  source: string,
): Promise<{ readonly own: readonly string[]; readonly others: ReadonlySet<string> }> {
  const entries = await store.stateEntries({ kind: 'queues', limit: mostSources })
  const namesOf = (isOwn: boolean): readonly string[] =>
    entries.filter(({ name }) => (name === source) === isOwn).flatMap(({ value }) => value as string[])
  return { own: namesOf(true), others: new Set(namesOf(false)) }
}

async function write(
  store: Store,
  given: {
    readonly name: string
    readonly own: readonly string[]
    readonly names: readonly string[]
    readonly now: Instant
  },
): Promise<void> {
  const { name, own, names, now } = given
  if (own.length === names.length && names.every((one) => own.includes(one))) return
  const key: StateKey = { kind: 'queues', name, item: '' }
  await store.changeState({ changes: [{ ...key, value: names.length === 0 ? undefined : names }], now })
}
