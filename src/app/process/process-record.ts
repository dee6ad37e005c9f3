/**
 * The record of each started process, as a state entry: the source of its definitions, and the functions it can perform.
 * The row of a worker has neither. The record is written before the first definition, and is valid while a worker of
 * that process is alive or the process is starting; each start removes the records of gone processes.
 */
import { randomBytes } from 'node:crypto'
import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { workerIdentity } from '../../handlers/worker-identity.js'
import { placeOf, processOf, readRecords, type LiveProcess, type RecordedProcess } from './live-processes.js'

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
    return (await readRecords(this.#store)).flatMap(({ name, value }) => {
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
    return (await readRecords(this.#store)).filter(({ name, value }) => {
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
  { name, process }: { readonly name: string; readonly process: RecordedProcess },
  { live, now }: { readonly live: ReadonlySet<string>; readonly now: Instant },
): boolean {
  if (placeOf(process) === placeOf(workerIdentity())) return name.startsWith(ownNames())
  return live.has(placeOf(process)) || now - process.sinceAt < startingMs
}
