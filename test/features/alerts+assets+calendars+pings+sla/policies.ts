import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createApp, type App } from '../../../src/app/rota.js'
import { deadlineOf } from '../../../src/kernel/sla/deadline.js'
import { SeededRandom } from '../../../src/testing/random.js'
import { ended } from '../../fixtures/scheduler-process.js'
import { KilledPrograms } from '../../kill/killed-programs.js'
import { judgePolicies, judgePruned, type PolicyJudgement, type Told } from './policies-judge.js'
import { days, hoursOfDay, limits, pairs, promises, stretches, type World } from './policies-world.js'

const config = fileURLToPath(new URL('policies.config.mjs', import.meta.url))
const pruner = fileURLToPath(new URL('prune-ahead.mjs', import.meta.url))

/** The result of a campaign with all policies. */
export interface PolicyReport extends PolicyJudgement {
  readonly kills: number
}

/** Runs programs with every policy under kills, and checks the result; then prunes under kills, and checks again. */
export async function policyCampaign(options: {
  readonly seed: number
  readonly durationMs: number
  readonly store: string
  readonly directory: string
}): Promise<PolicyReport> {
  const { seed, durationMs, store, directory } = options
  const random = new SeededRandom(seed)
  const receiver = await Receiver.listen()
  // The programs need a moment to start, and calendars know whole seconds.
  const fromAt = Math.ceil(Date.now() / 1000) * 1000 + 2000
  const world: World = { fromAt, endAt: fromAt + durationMs, url: receiver.url }
  const [performed, stage] = ['performed.txt', 'stage'].map((name) => join(directory, name)) as [
    string,
    string,
  ]
  writeFileSync(performed, '')
  writeFileSync(stage, 'first')
  const env = {
    KILL_TEST_STORE: store,
    KILL_TEST_PERFORMED: performed,
    KILL_TEST_STAGE: stage,
    KILL_TEST_WORLD: JSON.stringify({ ...world, limits, stretches, pairs, promises }),
    KILL_TEST_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }
  const roles = ['scheduler,worker', 'scheduler,worker', 'worker']
  const programs = new KilledPrograms({ config, env, random, roles })
  const app = createApp({ store }, 'code:policies-client')
  try {
    await programs.start()
    const client = new Client(app, { world, random, stage })
    const watcher = new Watcher(app)
    await Promise.all([
      client.work(),
      watcher.watch(world),
      ...roles.map((_, place) => killUntil(programs, { place, world, random })),
    ])
    await programs.allStarted()
    await untilQuiet(app)
    await programs.stop()
    const judged = await judgePolicies(app, {
      world,
      performed,
      told: receiver.told,
      asked: client,
      seen: watcher,
    })
    const kills = programs.kills + (await pruneUnderKills({ store, random }))
    return { ...judged, kills, broken: [...judged.broken, ...(await judgePruned(app, judged))] }
  } finally {
    await programs.stop()
    await app.close()
    receiver.close()
  }
}

async function killUntil(
  programs: KilledPrograms,
  { place, world, random }: { place: number; world: World; random: SeededRandom },
): Promise<void> {
  for (;;) {
    await wait(random.int(100, 900))
    if (Date.now() >= world.endAt) return
    await programs.killAndRestart(place)
  }
}

/** The acknowledged actions of people and other programs. */
class Client {
  readonly #app: App
  readonly #world: World
  readonly #random: SeededRandom
  readonly #stage: string
  readonly acknowledged: string[] = []
  debounced = 0
  throttled = 0
  backfill = ''

  constructor(app: App, given: { world: World; random: SeededRandom; stage: string }) {
    this.#app = app
    this.#world = given.world
    this.#random = given.random
    this.#stage = given.stage
  }

  async work(): Promise<void> {
    const made = [this.#backfill(), this.#partitions()]
    await Promise.all([this.#enqueue(), this.#burst(), this.#hold(), this.#reload(), ...made])
  }

  async #until(act: () => Promise<void>, restMs: number): Promise<void> {
    while (Date.now() < this.#world.endAt) {
      await act()
      await wait(restMs)
    }
  }

  async #enqueue(): Promise<void> {
    // Each of them once, however little a slow machine does in this time.
    for (const key of ['a', 'b', 'c']) await this.#mail(key)
    await this.#until(() => this.#mail(this.#random.pick(['a', 'a', 'a', 'b', 'c'])), 60)
  }

  async #mail(key: string): Promise<void> {
    const { id } = await this.#app.enqueue('mail', { key }, { concurrencyKey: key })
    this.acknowledged.push(id)
  }

  async #burst(): Promise<void> {
    await this.#until(async () => {
      const key = this.#random.pick(['x', 'y'])
      await this.#app.enqueue('bursts', {}, { debounce: { key, wait: '120ms', max: '600ms' } })
      this.debounced += 1
      await this.#app.enqueue('bursts', {}, { throttle: { key, per: '400ms' } })
      this.throttled += 1
    }, 40)
  }

  /** Pauses one thing after another for a moment. */
  async #hold(): Promise<void> {
    const app = this.#app
    const trigger = (): string => this.#random.pick(pairs as never as [string[], ...string[][]]).join('-')
    // On a slow machine they last for so long that they would hide what the calendars exclude.
    await wait(this.#world.fromAt + stretches.break.fromMs + 500 - Date.now())
    await this.#until(async () => {
      const name = trigger()
      const holds: readonly [() => Promise<boolean>, () => Promise<boolean>][] = [
        [
          () => app.triggers.pause(name),
          () => app.triggers.resume(name, { catchUp: this.#random.chance(0.5) }),
        ],
        [() => app.queues.pause('post'), () => app.queues.resume('post')],
        [() => app.freeze(), () => app.thaw()],
        [() => app.switches.off('scheduler'), () => app.switches.on('scheduler')],
        [() => app.switches.off('worker'), () => app.switches.on('worker')],
      ]
      const [hold, release] = this.#random.pick(holds as never as [(typeof holds)[0], ...typeof holds])
      await hold()
      await wait(this.#random.int(50, 400))
      await release()
    }, 300)
  }

  async #reload(): Promise<void> {
    await wait((this.#world.endAt - this.#world.fromAt) / 2)
    writeFileSync(this.#stage, 'changed')
    await this.#app.workers.reload({ app: 'policies', wait: '2s' })
  }

  async #backfill(): Promise<void> {
    await wait(500)
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:39:59Z' }
    const options = { ...range, definition: 'current', only: 'all', pace: '20/1s', concurrency: 3 } as const
    const plan = await this.#app.triggers.backfill('past', options)
    this.backfill = plan.backfill?.id ?? ''
    await this.#app.backfills.start(this.backfill)
  }

  /** One day after another, so that the second one is measured from the success of the first. */
  async #partitions(): Promise<void> {
    for (const day of days) {
      await wait((this.#world.endAt - this.#world.fromAt) / 4)
      const [from, to] = [hoursOfDay(day).at(0), hoursOfDay(day).at(-1)]
      await this.#app.assets.backfill('hours', { from, to, concurrency: 5 })
    }
  }
}

/** Reads runs all the time, and records when it first read that they were claimed or had ended. */
class Watcher {
  readonly #app: App
  readonly claimed = new Map<string, number>()
  readonly ended = new Map<string, number>()

  constructor(app: App) {
    this.#app = app
  }

  async watch({ endAt }: World): Promise<void> {
    while (Date.now() < endAt + 2000) {
      const mailed = await this.#app.runs.list({ trigger: 'mailing', limit: 60 })
      const runs = [...mailed, ...(await this.#app.runs.list({ job: 'sums', limit: 9 }))]
      const now = Date.now()
      for (const { id, attempt, finishedAt } of runs) {
        const claim = `${id} ${attempt}`
        if (!this.claimed.has(claim)) this.claimed.set(claim, now)
        if (finishedAt !== undefined && !this.ended.has(id)) this.ended.set(id, now)
      }
      await wait(30)
    }
  }
}

/**
 * Resolves when there is nothing left to run, ping, check or report. The end of a run writes entries that become runs,
 * so one may move from what is not read yet to what was read: two checks in a row must find nothing.
 */
async function untilQuiet(app: App): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    quiet = (await isQuiet(app)) ? quiet + 1 : 0
    await wait(100)
  }
}

async function isQuiet(app: App): Promise<boolean> {
  const store = await app.store()
  const runs = await app.runs.list({ state: ['pending', 'running'], limit: 1 })
  const deadlines = await store.stateEntries({ kind: 'deadline', limit: 9 })
  const open = [
    ...(await store.stateEntries({ kind: 'ping', limit: 1 })),
    // The deadline of `notOlderThan` always exists.
    ...deadlines.filter((one) => deadlineOf(one).run !== null),
    ...(await store.stateEntries({ kind: 'arrival', limit: 1 })),
    ...(await store.stateEntries({ kind: 'alert', names: ['new', 'outgoing'], limit: 1 })),
  ]
  const abouts = await store.stateEntries({ kind: 'alert', names: ['about'], limit: 1000 })
  const isTold = abouts.every(({ value }) => (value as { sendAt: number | null }).sendAt === null)
  return runs.length + open.length === 0 && isTold
}

/** Three hours later old runs are pruned, and the pruning processes are killed; the last one may finish. */
async function pruneUnderKills({ store, random }: { store: string; random: SeededRandom }): Promise<number> {
  const kills = 3
  for (let i = 0; i <= kills; i++) {
    const child = spawn(process.execPath, [pruner, store, String(3 * 3_600_000)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const end = new Promise<number | null>((resolve) => child.once('exit', resolve))
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
    if (i < kills) {
      await wait(random.int(0, 25))
      await ended(child, 'SIGKILL')
    } else if ((await end) !== 0) throw new Error('the store could not be pruned')
  }
  return kills
}

/** Receives pings and alerts. */
class Receiver {
  readonly #server: Server
  readonly told: Told = { pings: [], alerts: new Map() }

  private constructor(server: Server) {
    this.#server = server
  }

  static async listen(): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const receiver = new Receiver(server)
    server.on('request', (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { pathname } = new URL(request.url ?? '', 'http://receiver')
        const text = Buffer.concat(parts).toString()
        if (pathname.startsWith('/ping')) receiver.told.pings.push({ path: pathname, text })
        else receiver.told.alerts.set(String(request.headers['webhook-id']), JSON.parse(text))
        response.end('ok')
      })
    })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
