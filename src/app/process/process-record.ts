/**
 * What each started process says of itself, as a note: whose definitions it has, and which functions it can perform.
 * A worker's row says neither. The note is there before the first definition is written, and counts while a worker of
 * that process is alive or the process is just starting; whoever starts removes the notes of those that are gone.
 */
import { randomBytes } from 'node:crypto'
import { isMap } from '../../kernel/definition/read-value.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { workerIdentity } from '../../handlers/worker-identity.js'

/** A process that was started and is alive. */
export interface LiveProcess {
  readonly host: string
  readonly pid: number
  /** The name under which it owns its definitions. */
  readonly source: string
  /** A digest of what it plans; empty where it plans nothing. */
  readonly definitions: string
  /** Which program it runs, where that is known. */
  readonly program: string | undefined
  /** The jobs that it has as functions; absent where they are too many to name. */
  readonly functions: readonly string[] | undefined
}

/** More functions than this are not named. */
const mostFunctions = 5000

/** How long a process may take from its note to its worker's row. */
const startingMs = 60_000

/** How long the note of a process that ends is worth waiting for. */
const removeMs = 2000

/** Tells this process from one before it that had the same number, as the first one of a container has. */
const token = randomBytes(4).toString('hex')

/** What this process says of itself while it runs. */
export class ProcessRecord {
  readonly #store: Store
  readonly #now: () => Instant
  readonly #clock: Clock
  readonly #owner: ProcessOwner
  readonly #name: string
  readonly #sinceAt: Instant
  #told: string | undefined
  #isOver = false
  #telling: Promise<void> = Promise.resolve()

  constructor(
    store: Store,
    { clock, now, ...owner }: ProcessOwner & { readonly clock: Clock; readonly now: () => Instant },
  ) {
    this.#store = store
    this.#now = now
    this.#clock = clock
    this.#owner = owner
    this.#name = `${ownNames()}${randomBytes(4).toString('hex')}`
    this.#sinceAt = now()
  }

  /** The other live processes that plan under the same name by other definitions. */
  async others(): Promise<readonly LiveProcess[]> {
    const { source, definitions } = this.#owner
    const now = this.#now()
    const live = new Set(
      (await this.#store.workers()).filter(({ leaseUntil }) => leaseUntil >= now).map(placeOf),
    )
    return (await readState(this.#store)).flatMap(({ name, value }) => {
      const process = processOf(value)
      if (name === this.#name || process?.source !== source) return []
      const isOther = process.definitions !== '' && process.definitions !== definitions
      return isOther && isThere({ name, process }, { live, now }) ? [process] : []
    })
  }

  /** Says which functions this process has, undefined while that is not known; a note that could not be written is written with the next change. */
  tell(functions: readonly string[] | undefined): Promise<void> {
    this.#telling = this.#telling.then(() => this.#tell(functions)).catch(() => (this.#told = undefined))
    return this.#telling
  }

  /** The process ends in order: its note goes, unless the store is away for longer than an end may take. */
  async remove(): Promise<void> {
    this.#isOver = true
    const removed = new AbortController()
    await Promise.race([
      this.#remove().finally(() => removed.abort()),
      this.#clock.sleep(removeMs, removed.signal),
    ])
  }

  async #remove(): Promise<void> {
    await this.#telling
    if (this.#told === undefined) return
    const change = { kind: 'process' as const, name: this.#name, item: '', value: undefined }
    await this.#store.changeState({ changes: [change], now: this.#now() }).catch(() => undefined)
  }

  async #tell(functions: readonly string[] | undefined): Promise<void> {
    const { host, pid } = workerIdentity()
    const value: Json = {
      host,
      pid,
      ...this.#owner,
      program: this.#owner.program ?? null,
      sinceAt: this.#sinceAt,
      functions: functions === undefined || functions.length > mostFunctions ? null : functions.toSorted(),
    }
    const text = JSON.stringify(value)
    if (this.#isOver || this.#told === text) return
    const gone = this.#told === undefined ? await this.#gone() : []
    const removals = gone.map(({ name, item }) => ({
      kind: 'process' as const,
      name,
      item,
      value: undefined,
    }))
    const change = { kind: 'process' as const, name: this.#name, item: '', value }
    await this.#store.changeState({ changes: [...removals, change], now: this.#now() })
    this.#told = text
  }

  /** The notes of processes that are not there any more. */
  async #gone(): Promise<readonly StateEntry[]> {
    const live = new Set((await this.#store.workers()).map(placeOf))
    const now = this.#now()
    return (await readState(this.#store)).filter(({ name, value }) => {
      const process = processOf(value)
      return process === undefined || !isThere({ name, process }, { live, now })
    })
  }
}

/** Whose definitions a process has. */
export interface ProcessOwner {
  readonly source: string
  readonly definitions: string
  readonly program: string | undefined
}

/** How the notes of this process are named; those of one before it that had its number are not. */
function ownNames(): string {
  const { host, pid } = workerIdentity()
  return `${host}:${pid}:${token}:`
}

/** Whether the process of a note is one of these, or just starting. */
function isThere(
  { name, process }: { readonly name: string; readonly process: Revisioned },
  { live, now }: { readonly live: ReadonlySet<string>; readonly now: Instant },
): boolean {
  if (placeOf(process) === placeOf(workerIdentity())) return name.startsWith(ownNames())
  return live.has(placeOf(process)) || now - process.sinceAt < startingMs
}

/** The processes that are alive and have said what they have. */
export async function liveProcesses(
  store: Store,
  live: readonly WorkerStatus[],
): Promise<readonly LiveProcess[]> {
  const places = new Set(live.map(placeOf))
  const processes = (await readState(store)).flatMap(({ value }) => processOf(value) ?? [])
  return processes.filter((process) => places.has(placeOf(process)))
}

/** What a process is called in messages. */
export function placeOf({ host, pid }: { readonly host: string; readonly pid: number }): string {
  return `${host}:${pid}`
}

const maxStateEntries = 10_000

async function readState(store: Store): Promise<readonly StateEntry[]> {
  return await store.stateEntries({ kind: 'process', limit: maxStateEntries })
}

/** A process as its note tells of it. */
interface Revisioned extends LiveProcess {
  readonly sinceAt: Instant
}

function processOf(value: Json): Revisioned | undefined {
  if (!isMap(value)) return undefined
  const { host, pid, source, definitions, program, sinceAt, functions } = value
  if (typeof host !== 'string' || typeof pid !== 'number') return undefined
  if (typeof source !== 'string' || typeof definitions !== 'string') return undefined
  const names = Array.isArray(functions) ? functions.filter((name) => typeof name === 'string') : undefined
  return {
    host,
    pid,
    source,
    definitions,
    program: typeof program === 'string' ? program : undefined,
    sinceAt: typeof sinceAt === 'number' ? sinceAt : -Infinity,
    functions: names,
  }
}
