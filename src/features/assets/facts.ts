import { arrivalOfEntry, type Arrival, type ArrivalCursor, type StoredArrival } from './arrival.js'
import { isAsset, labelOfPartition } from '../../kernel/partition/asset.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { PartitionRecord } from './end-effect.js'
import type { Job } from '../../kernel/job/job.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import { partitionKey, type Candidate, type UpstreamFacts } from './plan.js'
import { candidateOf, listedBy, touchedBy, walkFrom, type Follower, type Touch } from './touch.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** What the tick of a trigger that follows assets needs; or why it cannot be determined. */
export type FollowerFacts = UpstreamFacts | RotaError

/** The limits of one tick: arrivals, partitions that they affect, partitions that those need. */
const mostArrivals = 1000
const mostCandidates = 1000
const mostNeeded = 50_000

/** How many partitions are read in one query, and how many waiting runs are read. */
const perRead = 1000
const mostWaiting = 1000

/** Reads what the ticks of triggers that follow assets need. */
export async function upstreamFacts(
  store: Store,
  due: readonly DueTrigger[],
  now: Instant,
): Promise<ReadonlyMap<string, FollowerFacts>> {
  const jobs = new Map((await store.jobs()).map(({ job }) => [job.name, job]))
  const read = new Map<string, FollowerFacts>()
  for (const { trigger, jobDefinition } of due) {
    const facts = factsOf(store, { trigger: trigger.name, job: jobDefinition, jobs, now })
    read.set(trigger.name, await facts.catch(definitionError))
  }
  return read
}

/** Another app may have changed the partitions of its asset so that they no longer fit: this affects only the assets that follow it. */
function definitionError(error: unknown): RotaError {
  const isOfDefinition = error instanceof RotaError && /^(PARTITION|DEFINITION)_/.test(error.code)
  if (!isOfDefinition) throw error
  return error
}

interface Asked {
  readonly trigger: string
  readonly job: Job
  readonly jobs: ReadonlyMap<string, Job>
  readonly now: Instant
}

async function factsOf(store: Store, asked: Asked): Promise<UpstreamFacts> {
  const { trigger, job, now } = asked
  const notes = await store.stateEntries({ kind: 'arrival', names: [trigger], limit: mostArrivals })
  const follower = followerOf(asked)
  if (follower === undefined) return nothing(notes)
  const page = new Page(store, follower, now)
  for (const note of notes) if (!page.isFull) await page.take(note)
  const { arrivals, candidates } = page
  const keys = candidates.flatMap(({ label, needs }) => [{ asset: job.name, label }, ...needs])
  // Read before the partitions: the partition of a run that ends in between is read as done.
  const waiting = candidates.length === 0 ? new Set<string>() : await waitingLabels(store, asked)
  return {
    arrivals,
    hasMore: arrivals.length < notes.length || notes.length === mostArrivals,
    candidates,
    partitions: await partitionRecords(store, keys),
    waiting,
  }
}

/** Arrivals for a job that is no longer an asset are dropped. */
function nothing(notes: readonly StateEntry[]): UpstreamFacts {
  return {
    arrivals: notes.map((note) => ({ ...note, arrival: arrivalOfEntry(note), next: undefined })),
    hasMore: notes.length === mostArrivals,
    candidates: [],
    partitions: new Map(),
    waiting: new Set(),
  }
}

function followerOf({ job, jobs }: Asked): Follower | undefined {
  if (!isAsset(job)) return undefined
  const specs = job.asset.deps.flatMap(({ asset }) => {
    const upstream = jobs.get(asset)
    return upstream !== undefined && isAsset(upstream) ? [[asset, upstream.asset.partitions] as const] : []
  })
  return { name: job.name, asset: job.asset, specs: new Map(specs) }
}

/** Arrivals and the partitions that they affect, up to the limits of one tick. */
class Page {
  readonly arrivals: StoredArrival[] = []
  readonly #store: Store
  readonly #follower: Follower
  readonly #now: Instant
  readonly #touches = new Map<string, Touch>()
  #needed = 0

  constructor(store: Store, follower: Follower, now: Instant) {
    this.#store = store
    this.#follower = follower
    this.#now = now
  }

  get isFull(): boolean {
    return this.#touches.size >= mostCandidates || this.#needed >= mostNeeded
  }

  get candidates(): readonly Candidate[] {
    return [...this.#touches].flatMap(([label, touch]) => {
      return candidateOf(this.#follower, label, { touch, now: this.#now }) ?? []
    })
  }

  /** Adds an arrival, or as much of it as there is room for. */
  async take(note: StateEntry): Promise<void> {
    const arrival = arrivalOfEntry(note)
    const touched = touchedBy(this.#follower, arrival)
    const next =
      touched.kind === 'each'
        ? this.#takeListed(arrival, touched.labels)
        : await this.#walk(arrival, touched.deps)
    this.arrivals.push({ item: note.item, revision: note.revision, arrival, next })
  }

  #takeListed(arrival: Arrival, labels: readonly string[]): ArrivalCursor | undefined {
    let index = typeof arrival.next === 'number' ? arrival.next : 0
    for (; index < labels.length; index++) {
      if (this.isFull) return index
      this.#touch(labels[index] as string, arrival, false)
    }
    return undefined
  }

  /** One page of the partitions of the other dependencies: the partitions that they affect are checked. */
  async #walk(arrival: Arrival, deps: Follower['asset']['deps']): Promise<ArrivalCursor | undefined> {
    const { dep: index, item } = walkFrom(arrival.next)
    const dep = deps[index]
    if (dep === undefined) return undefined
    const after = item === '' ? undefined : { name: dep.asset, item }
    const names = [dep.asset]
    const limit = mostCandidates / 2
    const notes = await this.#store.stateEntries({ kind: 'partition', names, after, limit })
    for (const note of notes) {
      if (this.isFull) return { dep: index, item: before(notes, note) ?? item }
      for (const label of listedBy(this.#follower, dep, note.item)) this.#touch(label, arrival, true)
    }
    if (notes.length === limit) return { dep: index, item: notes.at(-1)?.item ?? '' }
    return index + 1 < deps.length ? { dep: index + 1, item: '' } : undefined
  }

  #touch(label: string, arrival: Arrival, isWalked: boolean): void {
    const known = this.#touches.get(label)
    const arrivals = known === undefined ? [arrival] : [...known.arrivals, arrival]
    const touch = { arrivals, isWalked: isWalked && (known?.isWalked ?? true) }
    this.#touches.set(label, touch)
    if (known !== undefined) return
    this.#needed += candidateOf(this.#follower, label, { touch, now: this.#now })?.needs.length ?? 0
  }
}

function before(notes: readonly StateEntry[], note: StateEntry): string | undefined {
  return notes[notes.indexOf(note) - 1]?.item
}

/** What is known of partitions, by `partitionKey`. */
export async function partitionRecords(
  store: Store,
  keys: readonly { readonly asset: string; readonly label: string }[],
): Promise<ReadonlyMap<string, PartitionRecord>> {
  const byAsset = new Map<string, Set<string>>()
  for (const { asset, label } of keys) {
    const labels = byAsset.get(asset) ?? new Set()
    byAsset.set(asset, labels.add(label))
  }
  const found = new Map<string, PartitionRecord>()
  for (const [asset, labels] of byAsset) {
    const items = [...labels]
    for (let i = 0; i < items.length; i += perRead) {
      const part = items.slice(i, i + perRead)
      const notes = await store.stateEntries({
        kind: 'partition',
        names: [asset],
        items: part,
        limit: perRead,
      })
      for (const { item, value } of notes) {
        found.set(partitionKey(asset, item), value as unknown as PartitionRecord)
      }
    }
  }
  return found
}

/** The labels with a run of this trigger that may start now or waits for a retry. Runs of other origins do not count, because they may be cancelled, for example with their backfill. */
async function waitingLabels(store: Store, { trigger, job, now }: Asked): Promise<ReadonlySet<string>> {
  // Queried by job: pending runs are found without reading the history of the trigger.
  const pending = await store.runs({ job: job.name, state: 'pending', limit: mostWaiting })
  const own = pending.filter((run) => run.trigger === trigger && !run.cancelRequested)
  const soon = own.filter((run) => run.runAt <= now || run.attempt > 0)
  return new Set(soon.map(({ partition }) => labelOfPartition(partition)))
}
