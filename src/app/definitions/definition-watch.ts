import type { EngineEvents, Events } from '../../engine/events.js'
import { Loop, type Look } from '../../engine/loop.js'
import { jobsSource } from '../../kernel/job/command-source.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'

/** The options of a definition watch. */
export interface DefinitionWatchOptions {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  /** Sources that define triggers but no jobs, so that no job names them. */
  readonly sources: ReadonlySet<string>
}

/** The fingerprint of every job and trigger, by source and name. */
type Known = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Reports jobs and triggers that are added or removed while an app runs, by a command line, a jobs file or another process. */
export class DefinitionWatch {
  readonly #options: DefinitionWatchOptions
  readonly #loop: Loop
  #unwatch: () => void = () => undefined
  #known: Known | undefined
  #restUntilMs = -Infinity

  constructor(options: DefinitionWatchOptions) {
    this.#options = options
    const step = (): Promise<Look> => this.#look()
    this.#loop = new Loop({ name: 'definitions', seed: 'definitions', ...options, pollMs: slowMs, step })
  }

  /** Existing definitions are not reported. */
  async start(): Promise<void> {
    const { store, sources } = this.#options
    this.#known = await read(store, sources)
    this.#unwatch = store.watch((news = 'anything') => news === 'anything' && this.#loop.wake())
    this.#loop.start()
  }

  async stop(): Promise<void> {
    this.#unwatch()
    await this.#loop.stop()
  }

  async #look(): Promise<Look> {
    const { store, clock, events } = this.#options
    const restMs = this.#restUntilMs - clock.monotonicMs()
    if (restMs > 0) return { afterMs: restMs }
    const before = this.#known ?? new Map()
    const now = await read(store, new Set(before.keys()))
    this.#known = now
    for (const [source, definitions] of now) {
      const changes = difference(before.get(source) ?? new Map(), definitions)
      if (changes.defined.length + changes.changed.length + changes.ended.length > 0)
        events.emit('definitions', { source, ...changes })
    }
    this.#restUntilMs = clock.monotonicMs() + leastRestMs
    return { afterMs: slowMs }
  }
}

const slowMs = 10_000

/** However often the store hints, definitions are read at most this often. */
const leastRestMs = 2000

async function read(store: Store, sources: ReadonlySet<string>): Promise<Known> {
  const jobs = await store.jobs()
  const all = new Set([...sources, 'api', jobsSource, ...jobs.map(({ source }) => source)])
  const known = new Map<string, Map<string, string>>()
  for (const source of all) {
    const triggers = await store.fingerprints(source)
    const definitions = new Map([...triggers].map(([name, text]) => [`trigger ${name}`, text]))
    known.set(source, definitions)
  }
  for (const { job, source } of jobs) {
    // Jobs of unclaimed commands are implied by the command jobs, so they are not reported.
    if (source !== jobsSource && job.ended !== true)
      known.get(source)?.set(`job ${job.name}`, JSON.stringify(job))
  }
  return known
}

function difference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Omit<EngineEvents['definitions'], 'source'> {
  const names = [...after.keys()]
  return {
    defined: names.filter((name) => !before.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
    ended: [...before.keys()].filter((name) => !after.has(name)),
  }
}
