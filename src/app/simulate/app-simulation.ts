import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf, within } from '../../kernel/definition/faults.js'
import { readDuration, readOptions, readWhole } from '../../kernel/definition/read-value.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { OwnDefinitions } from '../definitions/own-definitions.js'
import { loadTriggerKinds } from '../features.js'
import { historyOf } from './history.js'
import { runSimulation, type SimulationPlan, type SimulationResult } from './simulate.js'
import { definedIn, virtualTables } from './virtual-store.js'

/** The options of a simulation; everything has a default. */
export interface SimulateOptions {
  /** How much time passes, up to `732d`; default: `7d`. */
  readonly duration?: string | number | undefined
  /** The same seed gives the same result; default: 1. */
  readonly seed?: number | undefined
  /** How many processes work at the same time; default: 1. */
  readonly processes?: number | undefined
  /** How many runs each process performs concurrently; default: the concurrency of the app. */
  readonly concurrency?: number | undefined
  /** The mean time between two crashes of a process; default: none crashes. */
  readonly crashEvery?: string | number | undefined
  /** The duration of a run without history; default: `1s`. */
  readonly unknown?: string | number | undefined
  /** Called with the progress, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined
}

const names: readonly (keyof SimulateOptions)[] = [
  'duration',
  'seed',
  'processes',
  'concurrency',
  'crashEvery',
  'unknown',
  'onProgress',
]

const dayMs = 86_400_000
const spanBounds = { min: 60_000, max: 732 * dayMs, allowed: 'from 1m to 732d' }
const unknownBounds = { min: 0, max: dayMs, allowed: 'from 0s to 1d' }

/** Simulates an app: its own definitions and those in the store, with the durations of the store's runs. */
export async function simulateApp(
  app: {
    readonly store: () => Promise<Store>
    readonly own: OwnDefinitions
    readonly directory: string
    readonly concurrency: number
    readonly now: Instant
  },
  options: SimulateOptions,
): Promise<SimulationResult> {
  const plan = readPlan(options, app.concurrency)
  const store = await storeOrNone(app.store)
  const kinds = await loadTriggerKinds()
  const stored = store === undefined ? undefined : await definedIn(store)
  const own = { definitions: app.own, directory: app.directory }
  const world = await virtualTables({ stored, own, kinds, at: app.now })
  const triggers = [...world.tables.triggers.keys()]
  const history = store === undefined ? new Map() : await historyOf(store, triggers)
  return await runSimulation({ ...world, kinds, history }, { ...plan, fromAt: app.now })
}

/** Reads the options of a simulation. */
export function readPlan(options: SimulateOptions, concurrency: number): Omit<SimulationPlan, 'fromAt'> {
  const place = placeOf()
  const input = readOptions(options, names, place) ?? {}
  const time = (name: string, bounds: typeof spanBounds): number | undefined =>
    readDuration(input[name], bounds, within(place, name))
  const count = (name: string, max: number): number | undefined =>
    readWhole(input[name], { min: 1, max }, within(place, name))
  const plan = {
    durationMs: time('duration', spanBounds) ?? 7 * dayMs,
    seed: count('seed', 0xffff_ffff) ?? 1,
    processes: count('processes', 100) ?? 1,
    concurrency: count('concurrency', 10_000) ?? concurrency,
    crashEveryMs: time('crashEvery', spanBounds),
    unknownMs: time('unknown', unknownBounds) ?? 1000,
    onProgress: options.onProgress,
  }
  refuse('the simulation', place.faults)
  return plan
}

/** Before the first start there is no store, and no history. */
async function storeOrNone(open: () => Promise<Store>): Promise<Store | undefined> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof RotaError && error.code === 'STORE_NOT_FOUND') return undefined
    throw error
  }
}
