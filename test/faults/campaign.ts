import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SeededRandom } from '../../src/testing/random.js'
import { Proxy } from '../fixtures/proxy.js'
import { ServerProcess } from '../fixtures/server-process.js'
import { Clients } from './clients.js'
import { Host } from './host.js'
import { judge, type Judgement } from './judge.js'
import { untilQuiet } from './quiet.js'

/** The result of a campaign of faults. */
export interface FaultReport extends Judgement {
  readonly faults: Readonly<Record<string, number>>
  readonly acknowledged: number
  readonly refused: number
  readonly orders: number
  readonly rolledBack: number
  /** How long it took, after the return of the server, until a run was performed that became due after that. */
  readonly healedMs: readonly number[]
  /** How long it took, after the last fault, until everything was done that was not just due. */
  readonly quietMs: number
}

/** Runs schedulers, workers and clients on one server, causes random faults, and then checks the result. */
export async function faultCampaign(options: {
  readonly seed: number
  readonly durationMs: number
  /** What each of the processes does. */
  readonly roles: readonly string[]
}): Promise<FaultReport> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-faults-'))
  const server = await ServerProcess.start({ settings: { max_connections: '100' } })
  const campaign = new Campaign({ ...options, server, directory })
  try {
    return await campaign.run()
  } finally {
    await campaign.end()
    await server.remove()
    await rm(directory, { recursive: true })
  }
}

const leaseMs = 2000

class Campaign {
  readonly #random: SeededRandom
  readonly #durationMs: number
  readonly #roles: readonly string[]
  readonly #server: ServerProcess
  readonly #directory: string
  readonly #diary: string
  readonly #proxies: Proxy[] = []
  readonly #hosts: Host[] = []
  readonly #faults: Record<string, number> = {}
  readonly #healedMs: number[] = []
  readonly #fromAt = Date.now()
  readonly #open = new Set<Promise<void>>()

  constructor(options: {
    seed: number
    durationMs: number
    roles: readonly string[]
    server: ServerProcess
    directory: string
  }) {
    this.#random = new SeededRandom(options.seed)
    this.#durationMs = options.durationMs
    this.#roles = options.roles
    this.#server = options.server
    this.#directory = options.directory
    this.#diary = join(options.directory, 'diary.txt')
  }

  async run(): Promise<FaultReport> {
    await writeFile(this.#diary, '')
    const url = `${this.#server.url}&schema=rota`
    await Promise.all(this.#roles.map((role) => this.#employ(url, role)))
    const clients = new Clients({
      store: await this.#behindProxy(url),
      database: this.#server.url,
      random: this.#random,
    })
    await clients.start()
    const endAt = Date.now() + this.#durationMs
    while (Date.now() < endAt) {
      await wait(this.#random.int(100, 1200))
      const [name, fault] = this.#random.pick(this.#possible)
      this.#faults[name] = (this.#faults[name] ?? 0) + 1
      const done = fault()
      this.#open.add(done)
      void done.finally(() => this.#open.delete(done))
      if (this.#random.chance(0.7)) await done
    }
    await Promise.all(this.#open)
    const overAt = Date.now()
    const asked = await clients.stop()
    await untilQuiet(url)
    const quietMs = Date.now() - overAt
    await Promise.all(this.#hosts.map((host) => host.stop()))
    const judgement = await judge(url, this.#diary, asked)
    const { acknowledged, rolledBack, ordered } = asked
    return {
      ...judgement,
      broken: [
        ...judgement.broken,
        ...this.#hosts.flatMap(({ ends }) => ends.filter((end) => !isAtStart(end))),
      ],
      faults: this.#faults,
      acknowledged: acknowledged.length,
      refused: clients.refused,
      orders: ordered.length,
      rolledBack: rolledBack.length,
      healedMs: this.#healedMs,
      quietMs,
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()))
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
  }

  async #employ(url: string, role: string): Promise<void> {
    const host = new Host({
      roles: role,
      store: await this.#behindProxy(url),
      diary: this.#diary,
      fromAt: this.#fromAt,
      state: join(this.#directory, `state${this.#hosts.length}`),
    })
    this.#hosts.push(host)
    await host.start()
  }

  async #behindProxy(url: string): Promise<string> {
    const behind = await Proxy.before(url)
    this.#proxies.push(behind.proxy)
    return behind.url
  }

  get #possible(): readonly [Fault, ...Fault[]] {
    return [
      ['kill', () => this.#kill()],
      ['stop', () => this.#standStill()],
      ['kill server', () => this.#killServer()],
      ['terminate', () => this.#terminate()],
      ['cut', () => this.#cut()],
      ['cut all', () => Promise.resolve(this.#proxy.cutAll())],
      ['silence', () => this.#silence()],
      ['silence old', () => Promise.resolve(this.#proxy.silenceOld())],
      ['slow', () => this.#slow()],
    ]
  }

  get #proxy(): Proxy {
    return this.#random.pick(this.#proxies as [Proxy, ...Proxy[]])
  }

  get #host(): Host {
    return this.#random.pick(this.#hosts as [Host, ...Host[]])
  }

  async #kill(): Promise<void> {
    this.#host.signal('SIGKILL')
  }

  async #standStill(): Promise<void> {
    const host = this.#host
    await appendFile(this.#diary, `still ${host.pid}\n`)
    host.signal('SIGSTOP')
    await wait(leaseMs + this.#random.int(1000, 5000))
    host.signal('SIGCONT')
  }

  async #killServer(): Promise<void> {
    await this.#server.kill()
    await wait(this.#random.int(0, 3000))
    await this.#server.start()
    const backAt = Date.now()
    await this.#performedSince(backAt)
    this.#healedMs.push(Date.now() - backAt)
  }

  async #performedSince(backAt: number): Promise<void> {
    for (;;) {
      const lines = (await readFile(this.#diary, 'utf8')).trimEnd().split('\n')
      // A run's id begins with when it was due.
      const isNewer = lines
        .slice(-50)
        .some((line) => line.startsWith('begin') && Number(line.split(' ')[3]) > backAt)
      if (isNewer) return
      await wait(50)
    }
  }

  async #terminate(): Promise<void> {
    const client = await this.#server.connect().catch(() => undefined)
    const sql = `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'rota' order by random() limit $1`
    await client?.query(sql, [this.#random.int(1, 6)]).catch(() => undefined)
    await client?.end().catch(() => undefined)
  }

  async #cut(): Promise<void> {
    this.#proxy.cutAt({ at: this.#random.int(1, 12), when: this.#random.pick(['before', 'answered']) })
  }

  async #silence(): Promise<void> {
    const proxy = this.#proxy
    proxy.silence()
    await wait(this.#random.int(500, 6000))
    proxy.speak()
  }

  async #slow(): Promise<void> {
    const proxy = this.#proxy
    proxy.slowDown(this.#random.int(10, 150))
    await wait(this.#random.int(1000, 4000))
    proxy.slowDown(0)
  }
}

type Fault = readonly [string, () => Promise<void>]

/** A program that finds no server when it starts exits with an error; its supervisor starts it again. */
function isAtStart(end: string): boolean {
  return end.includes('STORE_AWAY') || end.includes('cannot be reached')
}
