/**
 * The record of each started process, as a state entry: the source of its definitions, and the functions it can perform.
 * The row of a worker has neither. The record is written before the first definition, and is valid while a worker of
 * that process is alive or the process is starting; each start removes the records of gone processes.
 */
import { randomBytes } from 'node:crypto'
import { isMap } from '../../kernel/definition/read-value.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { workerIdentity } from '../../handlers/worker-identity.js'

/** A live process. */
export interface LiveProcess {
  readonly host: string
  readonly pid: number
  /** The source of its definitions. */
  readonly source: string
  /** A digest of its triggers; empty if it plans nothing. */
  readonly definitions: string
  /** The program that it runs, if known. */
  readonly program: string | undefined
  /** The jobs whose functions it has; absent if they are too many to list. */
  readonly functions: readonly string[] | undefined
  /** Whether it can read its config again. */
  readonly reloads: boolean
}

/** More functions than this are not listed. */
const mostFunctions = 5000

/** How long a process may take from its record to the row of its worker. */
const startingMs = 60_000

/** How long an ending process waits for the removal of its record. */
const removeMs = 2000

/** Distinguishes this process from an earlier one with the same pid, as in a container. */
const token = randomBytes(4).toString('hex')

/** The record of this process while it runs. */
export class ProcessRecord {
  readonly #store: Store
  readonly #now: () => Instant
  readonly #clock: Clock
  #owner: ProcessOwner
  /** The name of the record, which no other process has. */
  readonly name: string
  readonly #sinceAt: Instant
  #functions: readonly string[] | undefined
  #written: string | undefined
  #isOver = false
  #writing: Promise<void> = Promise.resolve()

  constructor(
    store: Store,
    { clock, now, ...owner }: ProcessOwner & { readonly clock: Clock; readonly now: () => Instant },
  ) {
    this.#store = store
    this.#now = now
    this.#clock = clock
    this.#owner = owner
    this.name = `${ownNames()}${randomBytes(4).toString('hex')}`
    this.#sinceAt = now()
  }

  /** The other live processes with the same source and other definitions. */
  async others(): Promise<readonly LiveProcess[]> {
    const { source, definitions } = this.#owner
    const now = this.#now()
    const live = new Set(
      (await this.#store.workers()).filter(({ leaseUntil }) => leaseUntil >= now).map(placeOf),
    )
    return (await readState(this.#store)).flatMap(({ name, value }) => {
      const process = processOf(value)
      if (name === this.name || process?.source !== source) return []
      const isOther = process.definitions !== '' && process.definitions !== definitions
      return isOther && isThere({ name, process }, { live, now }) ? [process] : []
    })
  }

  /** Records which functions this process has, undefined while they are unknown; a failed write is repeated with the next change. */
  tell(functions: readonly string[] | undefined): Promise<void> {
    this.#functions = functions
    this.#writing = this.#writing.then(() => this.#tell(functions)).catch(() => (this.#written = undefined))
    return this.#writing
  }

  /** Records that this process has other definitions from now on. */
  async redefine(definitions: string): Promise<void> {
    this.#owner = { ...this.#owner, definitions }
    await this.tell(this.#functions)
  }

  /** Removes the record at the end of the process, unless the store cannot be reached in time. */
  async remove(): Promise<void> {
    this.#isOver = true
    const removed = new AbortController()
    await Promise.race([
      this.#remove().finally(() => removed.abort()),
      this.#clock.sleep(removeMs, removed.signal),
    ])
  }

  async #remove(): Promise<void> {
    await this.#writing
    if (this.#written === undefined) return
    const change = { kind: 'process' as const, name: this.name, item: '', value: undefined }
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
    if (this.#isOver || this.#written === text) return
    const gone = this.#written === undefined ? await this.#gone() : []
    const removals = gone.map(({ name, item }) => ({
      kind: 'process' as const,
      name,
      item,
      value: undefined,
    }))
    const change = { kind: 'process' as const, name: this.name, item: '', value }
    await this.#store.changeState({ changes: [...removals, change], now: this.#now() })
    this.#written = text
  }

  /** The records of gone processes. */
  async #gone(): Promise<readonly StateEntry[]> {
    const live = new Set((await this.#store.workers()).map(placeOf))
    const now = this.#now()
    return (await readState(this.#store)).filter(({ name, value }) => {
      const process = processOf(value)
      return process === undefined || !isThere({ name, process }, { live, now })
    })
  }
}

/** The source of a process's definitions. */
export interface ProcessOwner {
  readonly source: string
  readonly definitions: string
  readonly program: string | undefined
  /** Whether it can read its config again. */
  readonly reloads: boolean
}

/** The prefix of this process's records; an earlier process with the same pid has another one. */
function ownNames(): string {
  const { host, pid } = workerIdentity()
  return `${host}:${pid}:${token}:`
}

/** Whether the process of a record is one of these, or is starting. */
function isThere(
  { name, process }: { readonly name: string; readonly process: Revisioned },
  { live, now }: { readonly live: ReadonlySet<string>; readonly now: Instant },
): boolean {
  if (placeOf(process) === placeOf(workerIdentity())) return name.startsWith(ownNames())
  return live.has(placeOf(process)) || now - process.sinceAt < startingMs
}

/** The live processes that have a record. */
export async function liveProcesses(
  store: Store,
  live: readonly WorkerStatus[],
): Promise<readonly LiveProcess[]> {
  const places = new Set(live.map(placeOf))
  const processes = (await readState(store)).flatMap(({ value }) => processOf(value) ?? [])
  return processes.filter((process) => places.has(placeOf(process)))
}

/** The processes that can read their config again, of one source or of all. */
export async function reloadingProcesses(
  store: Store,
  { source, now }: { readonly source: string | undefined; readonly now: Instant },
): Promise<readonly (LiveProcess & { readonly name: string })[]> {
  const live = new Set((await store.workers()).filter(({ leaseUntil }) => leaseUntil >= now).map(placeOf))
  return (await readState(store)).flatMap(({ name, value }) => {
    const process = processOf(value)
    if (process?.reloads !== true || !live.has(placeOf(process))) return []
    return source === undefined || process.source === source ? [{ ...process, name }] : []
  })
}

/** The name of a process in messages. */
export function placeOf({ host, pid }: { readonly host: string; readonly pid: number }): string {
  return `${host}:${pid}`
}

const maxStateEntries = 10_000

async function readState(store: Store): Promise<readonly StateEntry[]> {
  return await store.stateEntries({ kind: 'process', limit: maxStateEntries })
}

/** Parses the record of a process. */
interface Revisioned extends LiveProcess {
  readonly sinceAt: Instant
}

function processOf(value: Json): Revisioned | undefined {
  if (!isMap(value)) return undefined
  const { host, pid, source, definitions, program, sinceAt, functions, reloads } = value
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
    reloads: reloads === true,
  }
}
