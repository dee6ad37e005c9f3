import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { partitionStatuses } from '../status.js'
import { isAsset, type AssetJob } from '../../../kernel/partition/asset.js'
import { defineAsset, type AssetInput } from '../definition.js'
import { runIdOf } from '../../../kernel/identity/identity.js'
import { endEffectFor, slotsFor } from '../../../kernel/identity/occurrence.js'
import { daily, hourly, weekly } from '../../../kernel/partition/define.js'
import { labelsOf } from '../../../kernel/partition/range.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.js'
import type { Store } from '../../../store/port.js'
import { crashable, type CrashableStore } from '../../../testing/crash-point.js'
import { settled } from '../../../testing/fake-clock.js'
import { SeededRandom } from '../../../testing/random.js'
import { Process, Stage, hour } from '../../../../test/fixtures/engine-stage.js'
import { endEffects } from '../../../../test/fixtures/feature-parts.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { assetCast } from './asset-cast.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const timezone = 'America/New_York'
// Two days, the second of which has 25 hours; the week has only these two.
const hours = hourly({ timezone, start: '2025-11-01T18:00-04:00', end: '2025-11-03T05:00-05:00' })
const days = daily({ timezone, start: '2025-11-01', end: '2025-11-03' })
const weeks = weekly({ timezone })
const labels = [...labelsOf(hours)]
const materialize = (): void => undefined

const assets: Readonly<Record<string, AssetInput>> = {
  hours: { partitions: hours, maxCrashes: 100, materialize },
  days: { partitions: days, deps: ['hours'], maxCrashes: 100, materialize },
  weeks: { partitions: weeks, deps: ['days'], maxCrashes: 100, materialize },
}

describe('three dependent assets (hour, day, week) across a clock change', () => {
  it(`F13, G8: on the memory store, with crashes at any call, are produced once (seed ${seed})`, async () => {
    await judge(openMemoryStore(emptyTables(endEffects)), { drawn: seed, again: 0 })
  }, 60_000)

  it(`F13, G8: new upstream data is never forgotten, whichever process crashes (seed ${seed})`, async () => {
    await judge(openMemoryStore(emptyTables(endEffects)), { drawn: seed + 1, again: 60 })
  }, 60_000)

  it(`F13, G8: on SQLite, with crashes at any call, are produced once (seed ${seed})`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-assets-'))
    const stage = new Stage()
    const store = await openSqliteStore({
      path: join(directory, 'rota.db'),
      url: 'sqlite:rota.db',
      clock: stage.clock,
      durability: 'normal',
      create: true,
      endEffects,
    })
    await judge(store, { drawn: seed + 2, again: 0, stage })
    await store.close()
    await rm(directory, { recursive: true })
  }, 60_000)
})

/** Two processes produce everything and crash at random calls; at the end nothing may be missing, stale or produced twice. */
async function judge(
  store: Store,
  { drawn, again, stage = new Stage() }: { drawn: number; again: number; stage?: Stage },
): Promise<void> {
  const random = new SeededRandom(drawn)
  const alive = [await start({ stage, store, random }), await start({ stage, store, random })]
  const asked = [...labels, ...Array.from({ length: again }, () => labels[random.int(0, labels.length - 1)])]
  let crashes = 0
  for (let turn = 0; turn < asked.length; turn++) {
    await ask(store, asked[turn] as string, { turn, now: stage.clock.now() })
    await stage.clock.advance(random.int(1, 5000), () => atRest(alive))
    for (const [index, one] of alive.entries()) {
      if (!one.isDead) continue
      crashes += 1
      one.process.kill()
      alive[index] = await start({ stage, store, random })
    }
  }
  for (const one of alive) one.process.kill()
  expect(crashes).toBeGreaterThan(5)
  const last = new Process(stage, { parts: [assetCast(assets)], store }, () => `process-${++processes}`)
  await last.start()
  await stage.clock.advance(hour, () => settled(6))
  last.kill()
  expect(await statesOf(store, 'days', [...labelsOf(days)])).toEqual(['done', 'done', 'done'])
  expect(await statesOf(store, 'weeks', ['2025-W44', '2025-W45'])).toEqual(['done', 'done'])
  const unfinished = (await store.runs({ limit: 1000 })).filter(({ state }) => state !== 'done')
  expect(unfinished).toEqual([])
  if (again > 0) return
  expect(await partitionsMade(store, 'days')).toEqual([...labelsOf(days)])
  expect(await partitionsMade(store, 'weeks')).toEqual(['2025-W44', '2025-W45'])
}

async function ask(store: Store, label: string, { turn, now }: { turn: number; now: number }): Promise<void> {
  const { job } = defineAsset('hours', assets['hours'] as AssetInput)
  const run = {
    id: runIdOf({ at: now, parts: [String(turn)] }),
    job: 'hours',
    origin: 'manual' as const,
    dueAt: now,
    runAt: now,
    priority: 0,
    partition: label,
    slots: slotsFor({ job, partition: label }),
    ...endEffectFor(job),
  }
  await store.enqueue({ runs: [run], now })
}

async function statesOf(store: Store, name: string, wanted: readonly string[]): Promise<string[]> {
  const job = (await store.jobs()).map((one) => one.job).find((one) => one.name === name && isAsset(one))
  return (await partitionStatuses(store, job as AssetJob, wanted)).map(({ state }) => state)
}

async function partitionsMade(store: Store, job: string): Promise<string[]> {
  return (await store.runs({ job, limit: 1000 })).map(({ partition }) => partition ?? '').toSorted()
}

interface Alive {
  readonly process: Process
  readonly view: CrashableStore
  isDead: boolean
}

let processes = 0

async function start(world: { stage: Stage; store: Store; random: SeededRandom }): Promise<Alive> {
  const { stage, store, random } = world
  const one = { isDead: false } as Alive
  const view = crashable(store, () => {
    one.isDead = true
    one.process.clock.stop()
  })
  const process = new Process(
    stage,
    { parts: [assetCast(assets)], store: view.store },
    () => `process-${++processes}`,
  )
  Object.assign(one, { process, view })
  await process.start()
  view.crashAt(random.int(1, 40), random.chance(0.5) ? 'before' : 'after')
  return one
}

async function atRest(alive: readonly Alive[]): Promise<void> {
  do await settled(6)
  while (alive.some(({ view, isDead }) => !isDead && view.inFlight > 0))
}
