import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { isMap } from '../../src/kernel/definition/read-value.js'
import { emptyDirectory, rota, start, type Running, type Surroundings } from './rota.js'

const running = new Set<Running>()

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
})

/** Starts an engine that does not outlive its test, and waits until it is up. */
async function up(args: readonly string[], surroundings: Surroundings): Promise<Running> {
  const started = start(['up', '--json', ...args], surroundings)
  running.add(started)
  await started.said('"event":"hint"')
  return started
}

function write(cwd: string, config: object): void {
  const text = JSON.stringify({ app: 'shop', lease: '2s', ...config }, null, 2)
  writeFileSync(join(cwd, 'rota.config.json'), text)
}

function app(config: object): string {
  const cwd = emptyDirectory()
  write(cwd, config)
  return cwd
}

const greet = { command: ['echo', 'good day'] }
const slow = {
  command: ['node', '-e', 'console.log("begins"); setTimeout(() => console.log("ends"), 2500)'],
}

/** What `rota list --json` shows, by name. */
async function triggers(cwd: string): Promise<readonly string[]> {
  const { stdout } = await rota(['list', '--json'], { cwd })
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).toSorted()
}

async function reloaded(cwd: string, ...args: string[]): Promise<readonly Record<string, unknown>[]> {
  const { code, stdout, stderr } = await rota(['reload', '--json', ...args], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown>[]
}

const none = { added: [], changed: [], removed: [] }

describe('rota reload', () => {
  it('applies the changed config to a running engine while its runs continue', async () => {
    const cwd = app({
      jobs: { slow, greet },
      triggers: { stays: { job: 'greet', every: '1h' }, goes: { job: 'greet', every: '1h' } },
    })
    const engine = await up([], { cwd })
    const id = (await rota(['run', 'slow', '--detach'], { cwd })).stdout.trim()
    await engine.said('"msg":"begins"')
    write(cwd, {
      lease: '3s',
      concurrency: 3,
      jobs: { slow, greet, shout: { command: ['echo', 'HELLO'] } },
      triggers: { stays: { job: 'greet', every: '1h' }, comes: { job: 'shout', at: '2026-01-01T00:00:00Z' } },
    })
    expect(await reloaded(cwd)).toMatchObject([
      {
        pid: engine.child.pid,
        outcome: 'reloaded',
        jobs: { ...none, added: ['shout'] },
        triggers: { added: ['comes'], changed: [], removed: ['goes'] },
        unchanged: 1,
        needsRestart: ['lease'],
      },
    ])
    await engine.said('"msg":"HELLO"')
    expect(await triggers(cwd)).toEqual(['comes', 'stays'])
    const { stdout } = await rota(['workers', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject([{ slots: 3 }])
    await engine.said('"msg":"ends"')
    const run = JSON.parse((await rota(['show', id, '--json'], { cwd })).stdout) as Record<string, unknown>
    expect(run).toMatchObject({ run: { state: 'done', attempt: 1 } })
    const history = await rota(['history', '--json'], { cwd })
    expect(history.stdout).toContain('"action":"reload"')
  })

  it('refuses a faulty config as a whole, reports it on both sides and changes nothing', async () => {
    const cwd = app({ jobs: { greet }, triggers: { stays: { job: 'greet', every: '1h' } } })
    const engine = await up([], { cwd })
    write(cwd, {
      concurrency: 5,
      jobs: { greet },
      triggers: { stays: { job: 'greet', every: '2h' }, bad: { job: 'grete', every: '1h' } },
    })
    const { code, stdout } = await rota(['reload'], { cwd })
    expect(code).toBe(1)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('refused, nothing was changed: 1 fault [CONFIG_INVALID]')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('triggers.bad.job: no job is named grete')
    await engine.said(/"operation":"reload".*"outcome":"failed".*grete/)
    expect(await triggers(cwd)).toEqual(['stays'])
    const shown = JSON.parse((await rota(['show', 'stays', '--json'], { cwd })).stdout) as object
    expect(JSON.stringify(shown)).toContain('"everyMs":3600000')
    const { stdout: workers } = await rota(['workers', '--json'], { cwd })
    expect(JSON.parse(workers)).toMatchObject([{ slots: 10 }])
    writeFileSync(join(cwd, 'rota.config.json'), '{')
    const broken = await rota(['reload', '--json'], { cwd })
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.stdout)).toMatchObject({ outcome: 'refused', code: 'CONFIG_INVALID' })
    // It continues as before, and applies the next config without faults.
    write(cwd, { jobs: { greet }, triggers: { other: { job: 'greet', every: '1h' } } })
    expect(await reloaded(cwd)).toMatchObject([{ triggers: { added: ['other'], removed: ['stays'] } }])
  })

  it('does not change the record of the process if a name belongs to another app', async () => {
    const cwd = app({ jobs: { greet } })
    const engine = await up([], { cwd })
    const client = createApp({ store: `sqlite:${join(cwd, 'data/rota.db')}` }, 'code:other')
    onTestFinished(() => client.close())
    client.job('shout', () => undefined)
    await client.start({ roles: { scheduler: true, worker: false } })
    const recorded = async (): Promise<unknown> => {
      const entries = await (await client.store()).stateEntries({ kind: 'process', limit: 10 })
      return entries
        .map(({ value }) => value)
        .find((value) => isMap(value) && value['pid'] === engine.child.pid)
    }
    const before = await recorded()
    write(cwd, { jobs: { greet, shout: greet } })
    const { code, stdout } = await rota(['reload'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toContain('shout')
    expect(await recorded()).toEqual(before)
  })

  it('reloads twice after two simultaneous requests, without changes the second time', async () => {
    const cwd = app({ jobs: { greet } })
    await up([], { cwd })
    write(cwd, { jobs: { greet }, triggers: { hourly: { job: 'greet', every: '1h' } } })
    const both = await Promise.all([reloaded(cwd), reloaded(cwd)])
    expect(both.flat().map(({ outcome }) => outcome)).toEqual(['reloaded', 'reloaded'])
    expect(await reloaded(cwd)).toMatchObject([{ jobs: none, triggers: none, unchanged: 1 }])
    expect(await triggers(cwd)).toEqual(['hourly'])
  })

  it('loses no due time when it reloads during ticks', async () => {
    const often = (text: string) => ({
      jobs: { greet: { command: ['echo', text] } },
      triggers: Object.fromEntries([1, 2, 3, 4].map((n) => [`often-${n}`, { job: 'greet', every: '1s' }])),
    })
    const cwd = app(often('0'))
    const engine = await up([], { cwd })
    for (const text of ['1', '2', '3', '4']) {
      write(cwd, { ...often(text), concurrency: Number(text) })
      expect(await reloaded(cwd)).toMatchObject([{ jobs: { changed: ['greet'] }, triggers: none }])
      await engine.said(`"msg":"${text}"`)
    }
    const coverage = await rota(['coverage', '--json'], { cwd })
    expect(coverage.code).toBe(0)
    expect(JSON.parse(coverage.stdout)).toMatchObject({ complete: true })
    expect((await rota(['history', '--json'], { cwd })).stdout).not.toContain('trigger.end')
  })

  it('reaches every process of the config, each in its role, and none of another app', async () => {
    const cwd = app({ jobs: { greet } })
    const scheduler = await up(['--role', 'scheduler'], { cwd })
    const worker = await up(['--role', 'worker'], { cwd })
    write(cwd, { jobs: { greet, shout: { command: ['echo', 'HELLO'] } } })
    const pids = (await reloaded(cwd)).map(({ pid }) => pid)
    expect(new Set(pids)).toEqual(new Set([scheduler.child.pid, worker.child.pid]))
    expect((await rota(['run', 'shout'], { cwd })).stdout).toContain('HELLO')
    write(cwd, { app: 'other', jobs: {} })
    const { code, stderr } = await rota(['reload'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('no `rota up` of app other runs on this store')
  })

  it('shows with --dry-run what would change, and changes nothing', async () => {
    const cwd = app({ jobs: { greet } })
    await up([], { cwd })
    write(cwd, { jobs: { greet }, triggers: { hourly: { job: 'greet', every: '1h' } } })
    const { code, stdout } = await rota(['reload', '--dry-run'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('dry run: nothing was changed.')
    expect(stdout).toContain('+ trigger hourly')
    expect(await triggers(cwd)).toEqual([])
  })

  it('applies sensors, alerts, plans and calendars of the new config', async () => {
    const cwd = app({ jobs: { greet } })
    writeFileSync(join(cwd, 'in.txt'), 'new')
    const engine = await up([], { cwd })
    write(cwd, {
      jobs: { greet },
      sensors: { inbox: { type: 'files', glob: '*.txt', every: '1s', job: 'greet' } },
      alerts: {
        channels: { ops: { command: ['cat'] } },
        rules: { all: { on: ['failure'], channels: ['ops'] } },
      },
      calendars: { holidays: { days: ['2027-01-01'] } },
    })
    expect(await reloaded(cwd)).toMatchObject([{ outcome: 'reloaded', triggers: { added: ['inbox'] } }])
    await engine.said('"msg":"good day"')
    expect((await rota(['alert', 'list', '--json'], { cwd })).stdout).toContain('"all"')
    expect((await rota(['calendar', 'list', '--json'], { cwd })).stdout).toContain('holidays')
    write(cwd, { jobs: { greet } })
    expect(await reloaded(cwd)).toMatchObject([{ triggers: { removed: ['inbox'] } }])
    expect((await rota(['alert', 'list', '--json'], { cwd })).stdout).not.toContain('"all"')
  })
})

describe('SIGHUP', () => {
  const code = (text: string): string =>
    `export default { app: 'shop', lease: '2s', jobs: { say: { handler: (run) => run.log(${JSON.stringify(text)}) } } }`

  it('makes rota up read its config again, also its functions', async () => {
    const cwd = emptyDirectory()
    const path = join(cwd, 'rota.config.mjs')
    writeFileSync(path, code('first'))
    const engine = await up([], { cwd })
    expect((await rota(['run', 'say'], { cwd })).stdout).toContain('first')
    writeFileSync(path, code('second'))
    engine.child.kill('SIGHUP')
    await engine.said(/"operation":"reload".*"outcome":"reloaded"/)
    expect((await rota(['run', 'say'], { cwd })).stdout).toContain('second')
    const store = ['--store', 'sqlite:data/rota.db']
    writeFileSync(path, 'export default {')
    engine.child.kill('SIGHUP')
    await engine.said(/"operation":"reload".*"outcome":"failed"/)
    expect((await rota(['run', 'say', ...store], { cwd })).stdout).toContain('second')
    expect((await rota(['history', '--json', ...store], { cwd })).stdout).toContain('SIGHUP')
    engine.child.kill('SIGTERM')
    expect((await engine.ended).code).toBe(0)
  })
})
