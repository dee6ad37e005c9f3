import type { Json } from '../../kernel/definition/json.js'
import { isMap } from '../../kernel/definition/read-value.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

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

/** The live processes that have a record. */
export async function liveProcesses(
  store: Store,
  live: readonly WorkerStatus[],
): Promise<readonly LiveProcess[]> {
  const places = new Set(live.map(placeOf))
  const processes = (await readRecords(store)).flatMap(({ value }) => processOf(value) ?? [])
  return processes.filter((process) => places.has(placeOf(process)))
}

/** The processes that can read their config again, of one source or of all. */
export async function reloadingProcesses(
  store: Store,
  { source, now }: { readonly source: string | undefined; readonly now: Instant },
): Promise<readonly (LiveProcess & { readonly name: string })[]> {
  const live = new Set((await store.workers()).filter(({ leaseUntil }) => leaseUntil >= now).map(placeOf))
  return (await readRecords(store)).flatMap(({ name, value }) => {
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

/** The entries of all processes. */
export async function readRecords(store: Store): Promise<readonly StateEntry[]> {
  return await store.stateEntries({ kind: 'process', limit: maxStateEntries })
}

/** The record of a process. */
export interface RecordedProcess extends LiveProcess {
  readonly sinceAt: Instant
}

/** Parses the record of a process. */
export function processOf(value: Json): RecordedProcess | undefined {
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
