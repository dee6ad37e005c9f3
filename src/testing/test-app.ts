/** An app in its own test world: virtual time, a memory store that survives a crash, and a process that can die. */
import { AssertionError } from 'node:assert'
import type { EndEffects } from '../kernel/run/end-effect.js'
import { isFinal, type Run } from '../kernel/run/run.js'
import { openMemoryStore } from '../store/memory/memory-store.js'
import { sharedStores } from '../store/memory/shared-stores.js'
import { emptyTables, type Tables } from '../store/memory/tables.js'
import type { Store } from '../store/port.js'
import { systemClock, type Clock } from '../time/clock.js'
import { dated, type Dated } from '../time/dated.js'
import { parseDuration } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { crashable, storesSettled, type CrashableStore } from './crash-point.js'
import { FakeClock } from './fake-clock.js'
import { isOf, listed, type RunMatch } from './run-match.js'

/** The methods that an app under test needs; the result of `rota()` has them. */
export interface Startable {
  start(): Promise<unknown>
  stop(): Promise<void>
}

/** The options that a test passes to `rota()`. */
export interface WorldOptions {
  readonly store: string
  readonly clock: Clock
}

/** How a test world begins. */
export interface TestAppOptions {
  /** The time at the start, as a Date or an ISO text; default: 2026-01-01T00:00:00Z. */
  readonly at?: Date | string | undefined
  /** How long `drain` waits in real time for handlers that wait for something outside; default: 5000. */
  readonly patienceMs?: number | undefined
}

/** A run as a test sees it. */
export type TestRun = Dated<Run>

/** Creates the app of a test and starts it. `make` is called again after a crash, as in a new process. */
export async function testApp<App extends Startable>(
  make: (world: WorldOptions) => App,
  options: TestAppOptions = {},
): Promise<TestApp<App>> {
  const test = new TestApp(make, options)
  await test.restart()
  return test
}

let worlds = 0

/** The most runs that a test can read. */
const mostRuns = 100_000

/** A started app under test. */
export class TestApp<App extends Startable> {
  /** The time of the world; `advance` of the test also waits for the work that follows. */
  readonly clock: FakeClock
  readonly #make: (world: WorldOptions) => App
  readonly #name = `test-${++worlds}`
  readonly #patienceMs: number
  #tables: Tables | undefined
  #process: { readonly app: App; readonly clock: FakeClock } | undefined
  #stores: CrashableStore[] = []

  constructor(make: (world: WorldOptions) => App, options: TestAppOptions) {
    this.#make = make
    this.#patienceMs = options.patienceMs ?? 5000
    this.clock = new FakeClock(new Date(options.at ?? '2026-01-01T00:00:00Z'))
    sharedStores.set(this.#name, (endEffects) => this.#open(endEffects))
  }

  /** The app; throws while the process is dead. */
  get app(): App {
    if (this.#process === undefined) throw new Error('the process of the app is dead: call restart()')
    return this.#process.app
  }

  /** The time of the world. */
  get now(): Date {
    return new Date(this.clock.now())
  }

  /** Whether the process has crashed. */
  get isCrashed(): boolean {
    return this.#process === undefined
  }

  /** Lets time pass, due time by due time: `advance('1d')`. Handlers that wait for something real are not waited for. */
  async advance(duration: string | number): Promise<void> {
    await this.clock.advance(parseDuration(duration), () => storesSettled(() => this.#stores))
  }

  /** Lets time pass until an instant. */
  async advanceTo(at: Date | string): Promise<void> {
    const ms = new Date(at).getTime() - this.clock.now()
    if (Number.isNaN(ms)) throw new RangeError(`${JSON.stringify(at)} is not an instant`)
    if (ms < 0) throw new RangeError(`it is already ${this.now.toISOString()}`)
    await this.clock.advance(ms, () => storesSettled(() => this.#stores))
  }

  /** Lets time pass until the next due time, of one trigger or any, and performs what is due. Returns the new runs. */
  async runDue(trigger?: string): Promise<readonly TestRun[]> {
    const before = new Set((await this.#runs()).map(({ id }) => id))
    const at = await this.#nextDueAt(trigger)
    await this.clock.advance(Math.max(0, at - this.clock.now()), () => storesSettled(() => this.#stores))
    await this.drain()
    const made = (await this.#runs()).filter((run) => !before.has(run.id) && isOf(run, { trigger }))
    return dated(made)
  }

  /**
   * Waits until everything that can be performed now has been performed. With `delayed`, time passes until the runs
   * that wait for their time, such as retries, have been performed, too. Returns the runs that ended meanwhile.
   */
  async drain(options: { readonly delayed?: boolean } = {}): Promise<readonly TestRun[]> {
    const before = new Set((await this.#runs()).filter(isOver).map(({ id }) => id))
    const until = systemClock.now() + this.#patienceMs
    for (;;) {
      await storesSettled(() => this.#stores)
      const open = (await this.#runs()).filter((run) => !isOver(run))
      const going = open.filter((run) => run.state === 'running' || this.#isClaimable(run))
      if (going.length === 0) {
        const nextAt = Math.min(...open.map(({ runAt }) => runAt).filter((at) => at > this.clock.now()))
        if (options.delayed !== true || nextAt === Infinity) break
        await this.clock.advance(nextAt - this.clock.now(), () => storesSettled(() => this.#stores))
        continue
      }
      if (this.isCrashed) throw this.#undrained(going, 'the process is dead: call restart()')
      if (systemClock.now() > until)
        throw this.#undrained(
          going,
          `they have not ended within ${this.#patienceMs} ms; a handler that sleeps on the clock needs advance()`,
        )
      await systemClock.sleep(1)
    }
    return dated((await this.#runs()).filter((run) => isOver(run) && !before.has(run.id)))
  }

  /** All runs that were recorded and match, oldest first. */
  async runs(match: RunMatch = {}): Promise<readonly TestRun[]> {
    return dated((await this.#runs()).filter((run) => isOf(run, match)))
  }

  /** Throws unless a run matches; with `count`, unless exactly that many do. Returns the runs. */
  async assertEnqueued(
    match: RunMatch,
    options: { readonly count?: number } = {},
  ): Promise<readonly TestRun[]> {
    const all = await this.#runs()
    const found = all.filter((run) => isOf(run, match))
    const { count } = options
    if (count === undefined ? found.length > 0 : found.length === count) return dated(found)
    const wanted = count === undefined ? 'a run' : `${count} ${count === 1 ? 'run' : 'runs'}`
    const message = `expected ${wanted} with ${JSON.stringify(match)}, found ${found.length} among these ${all.length}:\n${listed(all)}`
    throw new AssertionError({ message, actual: found.length, expected: count ?? 'at least 1' })
  }

  /** Throws if a run matches. */
  async refuteEnqueued(match: RunMatch): Promise<void> {
    await this.assertEnqueued(match, { count: 0 })
  }

  /** Kills the process now: its work in progress is lost, and nothing more of it reaches the store. */
  crash(): void {
    for (const store of this.#stores) store.kill()
    this.#process?.clock.stop()
    this.#process = undefined
    this.#stores = []
  }

  /** Kills the process at its n-th call of the store from now: before the store has done anything, or after the commit. */
  crashAt(call: number, when: 'before' | 'after' = 'before'): void {
    for (const store of this.#stores) store.crashAt(call, when)
  }

  /** Starts the app again after a crash, or for the first time. */
  async restart(): Promise<void> {
    if (this.#process !== undefined) throw new Error('the process is alive: call crash() first')
    const clock = this.clock.fork()
    const app = this.#make({ store: `memory:${this.#name}`, clock })
    this.#process = { app, clock }
    await app.start()
    await storesSettled(() => this.#stores)
  }

  /** Stops the app and drops the store. */
  async close(): Promise<void> {
    const process = this.#process
    this.#process = undefined
    // A stop waits on the clock of the app for handlers that continue.
    const stopped = process?.app.stop().then(() => true)
    for (let isOver = stopped === undefined; !isOver; ) {
      isOver = await Promise.race([stopped as Promise<boolean>, this.clock.advance(1000).then(() => false)])
    }
    sharedStores.delete(this.#name)
  }

  #open(endEffects: EndEffects): Store {
    this.#tables ??= emptyTables(endEffects)
    const one = crashable(openMemoryStore(this.#tables), () => this.crash())
    this.#stores.push(one)
    return one.store
  }

  async #runs(): Promise<readonly Run[]> {
    const runs = await this.#look().runs({ limit: mostRuns })
    return runs.toReversed()
  }

  async #nextDueAt(trigger: string | undefined): Promise<Instant> {
    const found = await this.#look().triggers()
    const ahead = found.filter((one) => trigger === undefined || one.trigger.name === trigger)
    const at = Math.min(...ahead.map(({ nextAt }) => nextAt ?? Infinity))
    if (at !== Infinity) return at
    const whose = trigger === undefined ? 'no trigger' : `the trigger ${trigger}`
    throw new Error(`${whose} has a next due time`)
  }

  /** Reads the store directly, because the process may be dead. */
  #look(): Store {
    if (this.#tables === undefined) throw new Error('the app has not opened its store')
    return openMemoryStore(this.#tables)
  }

  #isClaimable(run: Run): boolean {
    return run.state === 'pending' && run.waitsFor === undefined && run.runAt <= this.clock.now()
  }

  #undrained(runs: readonly Run[], why: string): Error {
    return new Error(`${runs.length} runs could not be drained, ${why}:\n${listed(runs)}`)
  }
}

function isOver(run: Run): boolean {
  return isFinal(run.state)
}
