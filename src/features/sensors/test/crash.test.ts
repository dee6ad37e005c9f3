import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../kernel/definition/json.js'
import type { Observation, PollResult, Sensor } from '../sensor.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.js'
import type { Store } from '../../../store/port.js'
import { crashable, type CrashableStore } from '../../../testing/crash-point.js'
import { settled } from '../../../testing/fake-clock.js'
import { SeededRandom } from '../../../testing/random.js'
import { Process, Stage } from '../../../../test/fixtures/engine-stage.js'
import { sensorCast } from './sensor-cast.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const items = 3000

describe('a stream of thousands of observations', () => {
  it(`F5, G8: triggers each exactly once on the memory store, with crashes at any call (seed ${seed})`, async () => {
    const crashes = await judge(openMemoryStore(), seed)
    expect(crashes).toBeGreaterThan(30)
  })

  it(`F5, G8: triggers each exactly once on SQLite, with crashes at any call (seed ${seed})`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-sensors-'))
    const stage = new Stage()
    const store = await openSqliteStore({
      path: join(directory, 'rota.db'),
      url: 'sqlite:rota.db',
      clock: stage.clock,
      durability: 'normal',
      create: true,
    })
    expect(await judge(store, seed + 1, stage)).toBeGreaterThan(30)
    await store.close()
    await rm(directory, { recursive: true })
  }, 60_000)
})

/** Two processes at a time poll a growing stream and crash at random calls; returns the number of crashes. */
async function judge(store: Store, drawn: number, stage = new Stage()): Promise<number> {
  const random = new SeededRandom(drawn)
  const stream = new Stream(random)
  const alive: Alive[] = [
    await start({ stage, store, stream, random }),
    await start({ stage, store, stream, random }),
  ]
  let crashes = 0
  for (let turn = 0; turn < 5000 && (await store.counts()).pending < items; turn++) {
    stream.grow()
    await stage.clock.advance(random.int(100, 4000), () => atRest(alive))
    for (const [index, one] of alive.entries()) {
      if (!one.isDead) continue
      crashes += 1
      one.process.kill()
      alive[index] = await start({ stage, store, stream, random })
    }
  }
  for (const one of alive) one.process.kill()
  const runs = await store.runs({ limit: items * 2 })
  expect(runs.map(({ labels }) => Number(labels?.['key'])).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: items }, (_, i) => i),
  )
  return crashes
}

interface Alive {
  readonly process: Process
  readonly view: CrashableStore
  isDead: boolean
}

let processes = 0

async function start(world: {
  stage: Stage
  store: Store
  stream: Stream
  random: SeededRandom
}): Promise<Alive> {
  const { stage, store, stream, random } = world
  const one = { isDead: false } as Alive
  const view = crashable(store, () => {
    one.isDead = true
    one.process.clock.stop()
  })
  const sensors = { s: { sensor: stream.sensor(), every: '100ms', timeout: '1s' } }
  const cast = {
    jobs: { work: () => undefined },
    parts: [sensorCast(sensors)],
    roles: { worker: false },
    store: view.store,
  }
  const process = new Process(stage, cast, () => `process-${++processes}`)
  Object.assign(one, { process, view })
  await process.start()
  view.crashAt(random.int(1, 120), random.chance(0.5) ? 'before' : 'after')
  return one
}

async function atRest(alive: readonly Alive[]): Promise<void> {
  do await settled(6)
  while (alive.some(({ view, isDead }) => !isDead && view.inFlight > 0))
}

/** Items that arrive one after another, in pages; a poll may see some of them again, or none. */
class Stream {
  readonly #random: SeededRandom
  #length = 0

  constructor(random: SeededRandom) {
    this.#random = random
  }

  grow(): void {
    this.#length = Math.min(items, this.#length + this.#random.int(0, 60))
  }

  sensor(): Sensor<never> {
    return {
      init: () => ({ kind: 'ok', state: { position: 0 } }),
      poll: (state) => this.#poll((state as { position: number }).position),
    }
  }

  #poll(position: number): PollResult {
    const from = Math.max(0, position - this.#random.int(0, 5))
    const until = Math.min(this.#length, position + this.#random.int(1, 12))
    const keys = Array.from({ length: Math.max(0, until - from) }, (_, i) => String(from + i))
    const state: Json = { position: Math.max(position, until) }
    const [first, ...rest] = keys.map((key): Observation => ({ key, partition: 'all' }))
    if (first === undefined) return { kind: 'no-trigger', state }
    return { kind: 'trigger', observations: [first, ...rest], state, more: until < this.#length }
  }
}
