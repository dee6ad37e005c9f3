import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { rota, type Rota, type Run } from '../../src/index.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { previousVersion, unpackPreviousRelease } from '../fixtures/previous-release.js'

const newProgram = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

let server: PostgresServer
let stores: PostgresStores
let previous: ReturnType<typeof unpackPreviousRelease>
let directory: string
const processes = new Set<Process>()

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
  previous = unpackPreviousRelease()
  directory = mkdtempSync(join(tmpdir(), 'rota-rolling-'))
})

afterEach(async () => {
  await Promise.all([...processes].map((process) => process.end('SIGKILL')))
  processes.clear()
})

afterAll(async () => {
  previous.dispose()
  rmSync(directory, { recursive: true })
  await server.stop()
})

it.each(['postgres', 'sqlite', 'files'] as const)(
  'on %s both releases work beside each other while the new one takes the place of the previous one: nothing is lost, nothing is done twice',
  async (kind) => {
    const store = { postgres: () => stores.fresh(), sqlite: file, files: folder }[kind]()
    const diary = join(directory, `${kind}.txt`)
    writeFileSync(diary, '')
    const start = (program: string) => Process.start(program, { store, diary })

    const old = await start(previous.program)
    await old.hasBegun(8)
    const fresh = await start(newProgram)
    const app = rota({ store, app: 'rolling-client' })
    expect((await app.workers.list()).map(told).toSorted()).toEqual(
      [`${previousVersion} worker ?`, `${rotaVersion()} scheduler,worker 4`].toSorted(),
    )
    expect(await app.workers.drain(await idOf(app, old))).toMatchObject([{ outcome: 'unable' }])
    const enqueued = await enqueueMany(app)
    // Each of them performs and plans on the new schema.
    const [begunBefore, ticksBefore] = [old.begun, old.ticks]
    await Promise.all([old.hasBegun(begunBefore + 10), fresh.hasBegun(10)])
    await old.hasTicked(ticksBefore + 3)
    // A process of the previous release can be started again, as when a deploy is rolled back.
    const back = await start(previous.program)
    await back.hasBegun(3)
    await Promise.all([old.end('SIGTERM'), back.end('SIGTERM')])
    // The quickest scheduler plans, and the other ones wait until it is gone.
    await fresh.hasTicked(fresh.ticks + 3)
    await app.workers.drain(await idOf(app, fresh))
    expect(await fresh.exitCode).toBe(0)

    expect([old, fresh, back].flatMap(({ troubles }) => troubles)).toEqual([])
    const runs = await allRuns(app)
    expect(await problemsOf(app, runs)).toEqual([])
    expect(enqueued.filter((id) => !runs.some((run) => run.id === id))).toEqual([])
    const begun = readFileSync(diary, 'utf8').trimEnd().split('\n')
    const names = begun.map((line) => line.split(' ').slice(0, 2).join(' '))
    expect(new Set(names).size).toBe(names.length)
    // A stopped process released the runs that had not begun; no attempt began twice.
    expect(new Set(begun.map((line) => line.split(' ')[0])).size).toBe(names.length)
    const done = runs.filter(({ state }) => state === 'done').map(({ id }) => id)
    expect(new Set(done)).toEqual(new Set(begun.map((line) => line.split(' ')[0])))
    expect(runs.filter(({ state }) => state === 'running')).toEqual([])
    await app.close()
  },
)

it('the previous release refuses a store that it can no longer work on, and says what to do', async () => {
  const path = join(directory, 'later.db')
  const app = rota({ store: `sqlite:${path}` })
  await app.store()
  await app.close()
  const db = new DatabaseSync(path)
  db.exec('update meta set compatible_from = version')
  const { version } = db.prepare('select version from meta').get() as { version: number }
  db.close()
  const asked = spawnSync(process.execPath, [previous.program, 'runs', '--store', `sqlite:${path}`])
  expect({ code: asked.status, stdout: String(asked.stdout) }).toEqual({ code: 3, stdout: '' })
  expect(String(asked.stderr)).toContain(
    `made by a newer Rota (it needs schema ${version}, this one knows 2); update Rota [STORE_VERSION]`,
  )
})

function file(): string {
  return `sqlite:${join(directory, 'rota.db')}`
}

function folder(): string {
  return `files:${join(directory, 'queue')}`
}

function told({ version, roles, slots }: Awaited<ReturnType<Rota['workers']['list']>>[number]): string {
  return `${version} ${roles.join()} ${slots ?? '?'}`
}

function rotaVersion(): string {
  const manifest = fileURLToPath(new URL('../../package.json', import.meta.url))
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

async function idOf(app: Rota, { pid }: Process): Promise<string> {
  return (await app.workers.list()).find((worker) => worker.pid === pid)?.id ?? ''
}

/** Runs of every kind: plain ones, ones that wait for a key, ones that wait for their queue. */
async function enqueueMany(app: Rota): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const [plain, keyed, narrow] = await Promise.all([
      app.enqueue('work', { i }),
      app.enqueue('keyed', { i }, { concurrencyKey: `key ${i % 2}` }),
      app.enqueue('narrow', { i }),
    ])
    ids.push(plain.id, keyed.id, narrow.id)
  }
  return ids
}

async function allRuns(app: Rota): Promise<Run[]> {
  const all: Run[] = []
  for (;;) {
    const page = await app.runs.list({ limit: 1000, before: all.at(-1)?.id })
    all.push(...page)
    if (page.length < 1000) return all
  }
}

/** Every due time of every grid, computed with simple arithmetic, has exactly one run, and no run failed. */
async function problemsOf(app: Rota, runs: readonly Run[]): Promise<string[]> {
  const problems = runs
    .filter(({ state, failures, crashes }) => state === 'failed' || failures > 0 || crashes > 0)
    .map(({ id, job, state, reason }) => `${job} ${id} is ${state}: ${reason}`)
  for (const { trigger, definedAt, cursorAt } of await app.triggers.list()) {
    const { schedule } = trigger
    if (schedule.kind !== 'interval') continue
    const { everyMs, anchorAt = definedAt } = schedule
    const due: number[] = []
    for (let at = anchorAt.getTime() + everyMs; at <= cursorAt.getTime(); at += everyMs) due.push(at)
    const found = runs.filter((run) => run.trigger === trigger.name).map((run) => run.dueAt.getTime())
    const isSame = JSON.stringify(found.toSorted((a, b) => a - b)) === JSON.stringify(due)
    if (!isSame || due.length === 0) problems.push(`${trigger.name}: ${found.length} runs, ${due.length} due`)
  }
  return problems
}

const bad: ReadonlySet<string> = new Set(['trouble', 'fatal', 'run:refused', 'run:lost', 'worker:expired'])

/** A running program of a release, with counts from its output. */
class Process {
  begun = 0
  ticks = 0
  /** Unexpected output. */
  readonly troubles: string[] = []
  readonly exitCode: Promise<number | null>
  readonly #child: ChildProcess
  readonly #looks = new Set<() => void>()

  private constructor(child: ChildProcess) {
    this.#child = child
    this.exitCode = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    let rest = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#read(line)
    })
  }

  /** Resolves when it reports that it has started. */
  static async start(program: string, app: { store: string; diary: string }): Promise<Process> {
    const child = spawn(process.execPath, [program, 'up', '--config', config, '--json'], {
      env: { ...process.env, ROLLING_STORE: app.store, ROLLING_DIARY: app.diary, XDG_STATE_HOME: directory },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const started = new Process(child)
    processes.add(started)
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve())
      child.once('exit', (code) => reject(new Error(`the program ended with ${code}`)))
    })
    return started
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  hasBegun(count: number): Promise<void> {
    return this.#until(() => this.begun >= count)
  }

  hasTicked(count: number): Promise<void> {
    return this.#until(() => this.ticks >= count)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal)
    const code = await this.exitCode
    if (signal === 'SIGTERM') expect(code).toBe(0)
  }

  #read(line: string): void {
    const { event } = JSON.parse(line) as { event: string }
    if (event === 'run:started') this.begun += 1
    if (event === 'tick') this.ticks += 1
    if (bad.has(event)) this.troubles.push(line)
    for (const look of this.#looks) look()
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isTrue()) return
        this.#looks.delete(look)
        resolve()
      }
      this.#looks.add(look)
      look()
    })
  }
}
