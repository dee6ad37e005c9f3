import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { start as startCommand } from '../cli/rota.js'
import { rota, type Rota } from '../../src/index.js'

const library = new URL('../../dist/index.js', import.meta.url).href

/** Defines a job and a trigger under each of its arguments, starts, prints the result, and runs until its input ends. */
const program = `
import { rota } from ${JSON.stringify(library)}
const [store, roles, ...names] = process.argv.slice(2)
const app = rota({ store, lease: '2s' })
app.on('operation', (told) => told.outcome === 'warning' && console.log(JSON.stringify({ warning: told.details.message })))
app.job('common', () => undefined)
for (const name of names) app.schedule(name, { job: app.job(name, () => undefined), every: '1h' })
process.stdin.on('end', () => app.stop())
process.stdin.resume()
try {
  await app.start({ roles: { scheduler: roles !== 'worker' } })
  console.log(JSON.stringify({ up: true }))
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
  process.exit(1)
}
`

let directory: string
let store: string
let app: Rota
let programs: Program[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-programs-'))
  store = `sqlite:${join(directory, 'rota.db')}`
  app = rota({ store, app: 'onlooker' })
  programs = []
})

afterEach(async () => {
  await Promise.all(programs.map((one) => one.stop()))
  await app.close()
  rmSync(directory, { recursive: true })
})

it('a program that would end the triggers of another running program with the same name is refused', async () => {
  const first = run('shop/one.mjs', ['a'])
  await first.said
  expect(await sources()).toEqual({ a: 'code:shop' })
  const second = run('shop/two.mjs', ['b'])
  expect(await second.said).toMatchObject({
    code: 'DEFINITION_CONFLICT',
    message: expect.stringMatching(
      new RegExp(
        `another program runs as code:shop: process \\S+:${first.pid} \\(shop/one.mjs\\); this one \\(shop/two.mjs\\) would end its trigger a\\. Nothing was changed`,
      ),
    ) as unknown,
  })
  expect(await sources()).toEqual({ a: 'code:shop' })
  expect((await app.jobs.list()).map(({ job }) => job.name)).toEqual(['a', 'common'])
  // It may start when the other one has stopped.
  await first.stop()
  expect(await run('shop/two.mjs', ['b']).said).toEqual({ up: true })
  expect(await sources()).toEqual({ b: 'code:shop' })
})

it('a later release of a program takes over from the running one, and says so', async () => {
  const old = run('releases/1/main.mjs', ['a', 'b'])
  await old.said
  const fresh = run('releases/2/main.mjs', ['b', 'c'])
  expect(await fresh.said).toEqual({ up: true })
  expect(fresh.warnings).toEqual([
    expect.stringMatching(`trigger a ended, which process \\S+:${old.pid} has`),
  ])
  expect(await sources()).toEqual({ b: 'code:shop', c: 'code:shop' })
  // The next process of the same release has nothing to take over, whatever else is running.
  const next = run('releases/2/main.mjs', ['b', 'c'])
  expect([await next.said, next.warnings]).toEqual([{ up: true }, []])
  // A rollback is a deploy, too.
  const back = run('releases/1/main.mjs', ['a', 'b'])
  expect(await back.said).toEqual({ up: true })
  expect(await sources()).toEqual({ a: 'code:shop', b: 'code:shop' })
})

it('processes that only perform, or define no trigger, conflict with no other', async () => {
  await run('shop/main.mjs', ['a', 'b']).said
  expect(await run('shop/worker.mjs', ['w'], 'worker').said).toEqual({ up: true })
  const other = run('shop/main.mjs', ['a'])
  expect(await other.said).toEqual({ up: true })
  expect(await sources()).toEqual({ a: 'code:shop' })
})

it('if two programs start at the same moment, neither loses its triggers', async () => {
  const started = ['a', 'b', 'c'].map((name) => ({ name, one: run(`shop/${name}.mjs`, [name]) }))
  const up: string[] = []
  for (const { name, one } of started) if ('up' in (await one.said)) up.push(name)
  expect(up.length).toBeGreaterThan(0)
  expect(Object.keys(await sources())).toEqual(up)
})

it('two configs of one package, and plans without a config, are separate programs', async () => {
  const cwd = join(directory, 'shop')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "name": "shop" }')
  writeFileSync(join(cwd, 'web.yml'), 'steps: [{ run: [node, -e, ""] }]')
  for (const name of ['a', 'b']) {
    const config = {
      store,
      jobs: { [name]: { command: ['true'] } },
      triggers: { [name]: { job: name, every: '1h' } },
    }
    writeFileSync(join(cwd, `${name}.json`), JSON.stringify(config))
    const entry = `{ publish_at: "2199-01-0${name === 'a' ? 1 : 2}T00:00", pipeline_path: web.yml }`
    writeFileSync(join(cwd, `${name}.yaml`), `schema_version: v1\ntimezone: UTC\nentries: [${entry}]\n`)
  }
  for (const options of [
    ['--config', 'a.json'],
    ['--store', store, '--plan', 'a.yaml'],
  ]) {
    const first = startCommand(['up', ...options], { cwd })
    await first.said('rota is up')
    const before = await sources()
    const second = await startCommand(['up', ...options.map((one) => one.replace(/^a/, 'b'))], { cwd }).ended
    expect(second).toMatchObject({ code: 2, stdout: '' })
    expect(second.stderr).toContain(`another program runs as`)
    expect(second.stderr).toContain(`:${first.child.pid} (`)
    expect(await sources()).toEqual(before)
    first.child.kill('SIGTERM')
    await first.ended
  }
})

async function sources(): Promise<Record<string, string>> {
  const active = (await app.triggers.list()).filter((one) => one.active)
  return Object.fromEntries(active.map(({ trigger, source }) => [trigger.name, source]))
}

function run(path: string, names: readonly string[], roles = 'both'): Program {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(join(dirname(file), 'package.json'), '{ "name": "shop" }')
  writeFileSync(file, program)
  const started = new Program(file, [store, roles, ...names])
  programs.push(started)
  return started
}

/** A separate program that runs until it is stopped. */
class Program {
  readonly warnings: string[] = []
  /** The result of its start. */
  readonly said: Promise<Record<string, unknown>>
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(file: string, args: readonly string[]) {
    const env = { ...process.env, XDG_STATE_HOME: directory }
    const child = spawn(process.execPath, [file, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', resolve))
    this.said = new Promise((resolve, reject) => {
      let rest = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const told = JSON.parse(line) as Record<string, unknown>
          if (typeof told['warning'] === 'string') this.warnings.push(told['warning'])
          else resolve(told)
        }
      })
      child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end()
    await this.#ended
  }
}
