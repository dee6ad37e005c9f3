import { existsSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { emptyDirectory, rota, type Running, start, tooWide } from './rota.js'

const running = new Set<Running>()

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
})

interface Shown {
  readonly pid: number
  readonly roles: readonly string[]
  readonly running: number
  readonly slots: number | null
  readonly draining: boolean
  readonly standing: string
}

describe('rota workers', () => {
  it('shows every process with its roles, load and last heartbeat, within 80 columns', async () => {
    const { cwd, up, shown } = place('sqlite:rota.db', '30s')
    const both = await up()
    const planner = await up('--role', 'scheduler')
    const performer = await up('--role', 'worker', '--concurrency', '2')
    const [list, all] = await Promise.all([rota(['workers', 'list'], { cwd }), shown()])
    const told = all.map(({ pid, roles, slots, standing }) => `${pid} ${roles.join()} ${slots} ${standing}`)
    const expected = [
      `${both.child.pid} scheduler,worker 10 live`,
      `${planner.child.pid} scheduler 0 live`,
      `${performer.child.pid} worker 2 live`,
    ]
    expect(told.toSorted()).toEqual(expected.toSorted())
    expect(list.code).toBe(0)
    expect(tooWide(list.stdout)).toEqual([])
    const [title, ...lines] = list.stdout.trimEnd().split('\n')
    expect(title).toMatch(/^HOST +PID +VERSION +ROLES +LOAD +UP +HEARTBEAT +STATE$/)
    expect(lines).toContainEqual(expect.stringMatching(/ scheduler +– .* ago +live$/))
    expect(lines).toContainEqual(expect.stringMatching(/ worker +0\/2 .* ago +live$/))
  })

  it('says if there is no process, and shows a killed process as gone', async () => {
    const { cwd, up, shown } = place('sqlite:rota.db', '1s')
    const killed = await up()
    killed.child.kill('SIGKILL')
    await killed.ended
    await expect.poll(shown, { timeout: 9000 }).toMatchObject([{ standing: 'gone' }])
    const drained = await rota(['workers', 'drain', hostname()], { cwd })
    expect(drained).toMatchObject({ code: 1, stdout: expect.stringContaining('is gone') as unknown })
    const next = await up()
    await expect.poll(async () => (await shown()).length, { timeout: 9000 }).toBe(1)
    next.child.kill('SIGTERM')
    await next.ended
    expect((await rota(['workers'], { cwd })).stdout).toBe(
      'no process works on this store; `rota up` starts one\n',
    )
    expect(await shown()).toEqual([])
  })

  it('drain --wait waits for running attempts', async () => {
    const { cwd, up, begun, release } = place('sqlite:rota.db')
    const engine = await up()
    await rota(['enqueue', 'wait'], { cwd })
    await begun()
    const waiting = start(['workers', 'drain', hostname(), '--wait', '30s'], { cwd })
    await engine.said('draining')
    release()
    expect((await waiting.ended).code).toBe(0)
    expect(await states(cwd)).toEqual({ wait: 'done' })
  })

  it('refuses invalid arguments', async () => {
    const { cwd, up } = place('sqlite:rota.db')
    await up()
    const lines = [
      ['workers', 'empty', 'x'],
      ['workers', 'drain'],
      ['workers', 'list', 'x'],
      ['workers', 'undrain', 'x', '--wait', '1s'],
      ['workers', 'drain', 'x', '--wait', 'soon'],
      ['workers', 'drain', 'nobody'],
    ]
    const ended = await Promise.all(lines.map((line) => rota(line, { cwd })))
    for (const { code, stdout } of ended) expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const reasons = [
      /unknown subcommand `empty`/,
      /missing argument <target>/,
      /`x`: unexpected argument; `rota workers list` takes no arguments/,
      /`rota workers undrain` has no option `--wait` \(allowed: with drain\)/,
    ]
    for (const [i, reason] of [...reasons, /DURATION_INVALID/, /WORKER_UNKNOWN/].entries())
      expect(ended[i]?.stderr).toMatch(reason)
  })
})

describe.each(['sqlite:rota.db', 'files:queue'])('rota workers drain on %s', (store) => {
  it('lets a process finish its runs and exit, and leaves the rest to others', async () => {
    const { cwd, up, begun, release, shown } = place(store)
    const old = await up()
    await rota(['enqueue', 'wait'], { cwd })
    await begun()
    const asked = await rota(['workers', 'drain', `${hostname()}:${old.child.pid}`], { cwd })
    expect(asked).toEqual({
      code: 0,
      stdout: `${hostname()}:${old.child.pid} drains; 1 run to finish\n`,
      stderr: '',
    })
    await rota(['enqueue', 'greet'], { cwd })
    await old.said('draining: claims nothing more; 1 run to finish')
    expect(await shown()).toMatchObject([{ draining: true, running: 1 }])
    const again = await rota(['workers', 'drain', hostname(), '--wait', '100ms'], { cwd })
    expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('drains already') as unknown })
    expect(await states(cwd)).toEqual({ wait: 'running', greet: 'pending' })
    release()
    const { code, stdout, stderr } = await old.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/✓ wait .*done in[^]*drained: nothing is left; stopping\nstopped\n$/)
    expect(await states(cwd)).toEqual({ wait: 'done', greet: 'pending' })
    const fresh = await up()
    await fresh.said(/✓ greet/)
  })

  it('can be cancelled with undrain while the process has not exited', async () => {
    const { cwd, up, begun, release, shown } = place(store)
    const engine = await up()
    await rota(['enqueue', 'wait'], { cwd })
    await begun()
    await rota(['workers', 'drain', hostname()], { cwd })
    await engine.said('draining')
    const undrained = await rota(['workers', 'undrain', hostname()], { cwd })
    expect(undrained.stdout).toBe(`${hostname()}:${engine.child.pid} claims runs again\n`)
    expect((await rota(['workers', 'undrain', hostname(), '--json'], { cwd })).stdout).toContain('"already"')
    await engine.said('no longer draining')
    await rota(['enqueue', 'greet'], { cwd })
    await engine.said(/✓ greet/)
    release()
    await engine.said(/✓ wait/)
    expect(await shown()).toMatchObject([{ draining: false }])
  })
})

/** A directory with a config whose job `wait` the test ends. */
function place(store: string, lease = '3s') {
  const cwd = emptyDirectory()
  const [began, go] = [join(cwd, 'began'), join(cwd, 'go')]
  const program = `const fs = require('fs'); fs.writeFileSync(${JSON.stringify(began)}, '');
    setInterval(() => fs.existsSync(${JSON.stringify(go)}) && process.exit(0), 20)`
  const jobs = { wait: { command: ['node', '-e', program] }, greet: { command: ['true'] } }
  writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify({ app: 'shop', lease, store, jobs }))
  return {
    cwd,
    up: async (...args: string[]): Promise<Running> => {
      const engine = start(['up', ...args], { cwd })
      running.add(engine)
      await engine.said('Ctrl-C')
      return engine
    },
    begun: () => expect.poll(() => existsSync(began), { timeout: 9000 }).toBe(true),
    release: () => writeFileSync(go, ''),
    shown: async () => JSON.parse((await rota(['workers', '--json'], { cwd })).stdout) as Shown[],
  }
}

async function states(cwd: string): Promise<Record<string, string>> {
  const { stdout } = await rota(['runs', '--json'], { cwd })
  const runs = JSON.parse(stdout) as { job: string; state: string }[]
  return Object.fromEntries(runs.map(({ job, state }) => [job, state]))
}
