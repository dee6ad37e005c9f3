import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFilesStore } from '../../src/store/files/files-store.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import type { Trigger } from '../../src/kernel/trigger/trigger.js'
import type { Store } from '../../src/store/port.js'
import type { WorldObserver } from '../../src/testing/observer.js'
import { SeededRandom } from '../../src/testing/random.js'
import { simulate, type Simulation, type SimulationReport } from '../../src/testing/simulation.js'
import { systemClock } from '../../src/time/clock.js'
import { drawAssets, drawTriggers } from './world.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

/** The seed and the length of a simulation. */
export interface Choice {
  readonly seed: number
  readonly days: number
}

/** A world whose triggers are drawn: also how many. */
export interface DrawnChoice extends Choice {
  readonly count: number
}

const hourMs = 3_600_000

/** Triggers on the memory store, from January on. */
export async function simulateOnMemory(choice: DrawnChoice): Promise<SimulationReport> {
  const world = { count: choice.count, startAt: Date.UTC(2026, 0, 5), crashEveryMs: 30 * hourMs }
  return await simulateInMemory(choice, world)
}

/** Triggers on one SQLite file, over the change to summer time. */
export async function simulateOnSqlite(choice: DrawnChoice): Promise<SimulationReport> {
  const world = { count: choice.count, startAt: Date.UTC(2026, 2, 1), crashEveryMs: 10 * hourMs }
  return await simulateInFile(choice, world)
}

/** Triggers on one directory of files, over the change to summer time. */
export async function simulateOnFiles(choice: DrawnChoice): Promise<SimulationReport> {
  const world = { count: choice.count, startAt: Date.UTC(2026, 2, 27), crashEveryMs: 5 * hourMs }
  return await simulateOnDisk(choice, world, (directory) =>
    openFilesStore({ path: join(directory, 'data'), durability: 'normal', clock: systemClock, endEffects }),
  )
}

/** Triggers in one schema of a Postgres server, over the change to summer time. */
export async function simulateOnPostgres(choice: DrawnChoice, url: string): Promise<SimulationReport> {
  const world = { count: choice.count, startAt: Date.UTC(2026, 2, 28), crashEveryMs: 4 * hourMs }
  return await simulateOnDisk(choice, world, () => openPostgresStore({ url, clock: systemClock, endEffects }))
}

/** When a world begins, how often its processes die, and what is in it: triggers to draw, or these. */
export type World = { startAt: number; crashEveryMs: number } & (
  | { count: number }
  | { triggers: readonly Trigger[]; observers: readonly WorldObserver[] }
)

/** A world on the memory store. */
export async function simulateInMemory(choice: Choice, world: World): Promise<SimulationReport> {
  const tables = emptyTables(endEffects)
  return await live(choice, world, () => Promise.resolve(openMemoryStore(tables)))
}

/** A world on one SQLite file. */
export async function simulateInFile(choice: Choice, world: World): Promise<SimulationReport> {
  return await simulateOnDisk(choice, world, (directory) =>
    openSqliteStore({
      path: join(directory, 'rota.db'),
      durability: 'normal',
      clock: systemClock,
      endEffects,
    }),
  )
}

async function simulateOnDisk(
  choice: Choice,
  world: World,
  openIn: (directory: string) => Promise<Store>,
): Promise<SimulationReport> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-simulation-'))
  const opened: Store[] = []
  const open = async (): Promise<Store> => {
    const store = await openIn(directory)
    opened.push(store)
    return withoutHints(store)
  }
  try {
    return await live(choice, world, open)
  } finally {
    for (const store of opened) await store.close()
    await rm(directory, { recursive: true })
  }
}

async function live(
  { seed, days }: Choice,
  world: World,
  open: Simulation['open'],
): Promise<SimulationReport> {
  const drawn = 'triggers' in world ? { triggers: world.triggers } : drawWorld({ seed, days, ...world })
  const report = await simulate({
    seed,
    durationMs: days * 24 * hourMs,
    startAt: world.startAt,
    ...drawn,
    kinds,
    ...('observers' in world ? { observers: world.observers } : {}),
    open,
    processes: 2,
    crashEveryMs: world.crashEveryMs,
    stepEveryMs: 10 * world.crashEveryMs,
    leaseMs: hourMs,
    failure: 0.05,
  })
  const { attempts, crashes, steps, repeated } = report
  console.log(
    `seed ${seed}: ${attempts} attempts, ${crashes} crashes, ${steps} clock steps, ${repeated} runs begun again`,
  )
  return report
}

/** Triggers of every kind, and one of an asset for each thirty of them. */
function drawWorld({ seed, count, ...world }: Choice & { count: number; startAt: number }) {
  const random = new SeededRandom(seed)
  const plain = drawTriggers(count, random)
  const { assets, triggers } = drawAssets({ count: Math.ceil(count / 30), ...world }, random)
  return { assets, triggers: [...plain, ...triggers] }
}

/** Hints come in real time, which the simulated one does not wait for; the slow poll has to be enough. */
function withoutHints(store: Store): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'watch') return () => () => undefined
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
}
