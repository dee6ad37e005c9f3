/**
 * What each started process says of itself, as a note: whose definitions it has, and which functions it can perform.
 * A worker's row says neither. The note counts only while a worker of that process is alive; whoever starts removes the
 * notes of those that are gone.
 */
import { randomBytes } from 'node:crypto'
import { isMap } from '../model/read-value.js'
import type { Json } from '../model/json.js'
import type { Note } from '../model/note.js'
import type { Store, WorkerStatus } from '../store/store.js'
import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { workerIdentity } from './worker-identity.js'

/** A process that was started and is alive. */
export interface LiveProcess {
  readonly host: string
  readonly pid: number
  /** The name under which it owns its definitions. */
  readonly source: string
  /** A digest of its definitions. */
  readonly definitions: string
  /** The jobs that it has as functions; absent where they are too many to name. */
  readonly functions: readonly string[] | undefined
}

/** More functions than this are not named. */
const mostFunctions = 5000

/** How long the note of a process that ends is worth waiting for. */
const removeMs = 2000

/** Tells this process from one before it that had the same number, as the first one of a container has. */
const token = randomBytes(4).toString('hex')

/** What this process says of itself while it runs. */
export class ProcessNote {
  readonly #store: Store
  readonly #now: () => Instant
  readonly #clock: Clock
  readonly #owner: { readonly source: string; readonly definitions: string }
  readonly #name: string
  #told: string | undefined
  #isOver = false
  #telling: Promise<void> = Promise.resolve()

  constructor(
    store: Store,
    owner: {
      readonly source: string
      readonly definitions: string
      readonly clock: Clock
      readonly now: () => Instant
    },
  ) {
    const { host, pid } = workerIdentity()
    this.#store = store
    this.#now = owner.now
    this.#clock = owner.clock
    this.#owner = { source: owner.source, definitions: owner.definitions }
    this.#name = `${host}:${pid}:${token}:${randomBytes(4).toString('hex')}`
  }

  /** Says which functions this process has; a note that could not be written is written with the next change. */
  tell(functions: readonly string[]): Promise<void> {
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
    await this.#store.changeNotes({ changes: [change], now: this.#now() }).catch(() => undefined)
  }

  async #tell(functions: readonly string[]): Promise<void> {
    const { host, pid } = workerIdentity()
    const value: Json = {
      host,
      pid,
      ...this.#owner,
      functions: functions.length > mostFunctions ? null : functions.toSorted(),
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
    await this.#store.changeNotes({ changes: [...removals, change], now: this.#now() })
    this.#told = text
  }

  /** The notes of processes that are not there any more. */
  async #gone(): Promise<readonly Note[]> {
    const { host, pid } = workerIdentity()
    const known = new Set((await this.#store.workers()).map(placeOf))
    return (await readNotes(this.#store)).filter(({ name, value }) => {
      const process = processOf(value)
      if (process === undefined || !known.has(placeOf(process))) return true
      return placeOf(process) === placeOf({ host, pid }) && !name.startsWith(`${host}:${pid}:${token}:`)
    })
  }
}

/** The processes that are alive and have said what they have. */
export async function liveProcesses(
  store: Store,
  live: readonly WorkerStatus[],
): Promise<readonly LiveProcess[]> {
  const places = new Set(live.map(placeOf))
  const processes = (await readNotes(store)).flatMap(({ value }) => processOf(value) ?? [])
  return processes.filter((process) => places.has(placeOf(process)))
}

/** What a process is called in messages. */
export function placeOf({ host, pid }: { readonly host: string; readonly pid: number }): string {
  return `${host}:${pid}`
}

const mostNotes = 10_000

async function readNotes(store: Store): Promise<readonly Note[]> {
  return await store.notes({ kind: 'process', limit: mostNotes })
}

function processOf(value: Json): LiveProcess | undefined {
  if (!isMap(value)) return undefined
  const { host, pid, source, definitions, functions } = value
  if (typeof host !== 'string' || typeof pid !== 'number') return undefined
  if (typeof source !== 'string' || typeof definitions !== 'string') return undefined
  const names = Array.isArray(functions) ? functions.filter((name) => typeof name === 'string') : undefined
  return { host, pid, source, definitions, functions: names }
}
