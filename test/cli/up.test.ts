import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ShiftedClock } from '../fixtures/shifted-clock.js'
import { emptyDirectory, rota, type Running, type Surroundings, start } from './rota.js'

const running = new Set<Running>()

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
})

/** Starts an engine that does not outlive its test. */
function up(args: readonly string[], surroundings: Surroundings): Running {
  const started = start(['up', ...args], surroundings)
  running.add(started)
  return started
}

const print = (text: string): string[] => ['node', '-e', `console.log(${JSON.stringify(text)})`]

/** A directory with a config. */
function app(config: object): string {
  const directory = emptyDirectory()
  writeFileSync(join(directory, 'rota.config.json'), JSON.stringify({ app: 'shop', lease: '1s', ...config }))
  return directory
}

const jobs = {
  greet: { command: print('good day') },
  broken: { command: ['node', '-e', 'process.exit(3)'], retry: { attempts: 2, delay: '10ms' } },
  slow: {
    command: ['node', '-e', 'console.log("slow begins"); setTimeout(() => console.log("slow ends"), 1500)'],
  },
  endless: { command: ['node', '-e', 'console.log("endless begins"); setInterval(() => {}, 1000)'] },
}

/** Whether a process is still running; a zombie is not. */
function isAlive(pid: number): boolean {
  const status = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
  return status !== '' && !status.startsWith('Z')
}

describe('rota up', () => {
  it('prints what it starts and what happens, and stops cleanly', async () => {
    const cwd = app({
      jobs,
      triggers: { hello: { job: 'greet', at: '2026-01-01T00:00:00Z' }, soon: { job: 'greet', every: '1h' } },
    })
    const engine = up(['--grace', '5s'], { cwd })
    await engine.said(/✓ hello {2}done in/)
    engine.child.kill('SIGTERM')
    const { code, stdout, stderr } = await engine.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toContain('\u001b')
    const lines = stdout.split('\n')
    expect(lines[0]).toBe(
      `rota is up as process ${engine.child.pid}: sqlite:${join(cwd, 'data/rota.db')}, config ${join(cwd, 'rota.config.json')}`,
    )
    expect(lines[1]).toBe('  scheduler and worker; 4 jobs, 2 triggers (2 new)')
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}next: soon in 59m/))
    expect(lines).toContainEqual(
      expect.stringMatching(/^\d\d:\d\d:\d\d {2}▸ hello {2}started, due 2026-01-01 00:00:00 \(\w{16}\)$/),
    )
    expect(lines).toContainEqual(expect.stringMatching(/│ hello {2}good day$/))
    expect(lines.slice(-3)).toEqual(['SIGTERM: stopping', 'stopped', ''])
  })

  it.each(['sqlite:rota.db', 'files:queue'])(
    '%s: says since when nothing ran, whatever commands wrote meanwhile',
    async (store) => {
      const cwd = app({ store, jobs, triggers: { often: { job: 'greet', every: '1m' } } })
      const clock = new ShiftedClock(cwd)
      const { env } = clock
      const killed = up(['--json'], { cwd, env })
      await killed.said('"event":"hint"')
      const killedAt = Date.now()
      killed.child.kill('SIGKILL')
      await killed.ended
      clock.shift(10 * 60_000)
      expect((await rota(['enqueue', 'greet'], { cwd, env })).code).toBe(0)
      clock.shift(10 * 60_000 + 1000)
      const engine = up(['--json'], { cwd, env })
      const said = await engine.said('"event":"hint"')
      const lines = said.split('\n').filter((line) => line.includes('"event":"downtime"'))
      const [downtime] = lines.map((line): { since: string; triggers: string[] } => JSON.parse(line))
      expect(downtime?.triggers).toEqual(['often'])
      expect(Date.parse(downtime?.since ?? '')).toBeLessThanOrEqual(killedAt)
      expect(Date.parse(downtime?.since ?? '')).toBeGreaterThan(killedAt - 60_000)
    },
  )

  it('performs runs of other processes, which see their log and end', async () => {
    const cwd = app({ jobs })
    const engine = up(['--json'], { cwd })
    await engine.said('"event":"hint"')
    const [good, bad, asJson, added] = await Promise.all([
      rota(['run', 'greet'], { cwd }),
      rota(['run', 'broken'], { cwd }),
      rota(['run', 'greet', '--json'], { cwd }),
      rota(['add', 'shout', '--', ...print('HELLO')], { cwd }),
    ])
    expect(good).toMatchObject({ code: 0, stderr: '' })
    expect(good.stdout).toMatch(/^run \w{36}\n\d\d:\d\d:\d\d {2}good day\ndone in \S+\n$/)
    expect(bad.code).toBe(1)
    expect(bad.stdout).toMatch(/\nfailed in \S+, 2 attempts: exit 3/)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ state: 'done', origin: 'manual' })
    expect(added.code).toBe(0)
    expect((await rota(['run', 'shout'], { cwd })).stdout).toContain('HELLO')
    engine.child.kill('SIGINT')
    const { code, stdout } = await engine.ended
    expect(code).toBe(0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const failed = events.filter(({ event, state }) => event === 'run:ended' && state === 'failed')
    expect(failed).toEqual([
      expect.objectContaining({ level: 'error', job: 'broken', attempt: 2, end: 'failed', retryAt: null }),
    ])
    expect(events.every(({ time }) => typeof time === 'string')).toBe(true)
  }, 60_000)

  it('lets running attempts finish, and says what it waits for', async () => {
    const cwd = app({ jobs, triggers: { slow: { job: 'slow', at: '2026-01-01T00:00:00Z' } } })
    const engine = up([], { cwd })
    await engine.said('slow begins')
    engine.child.kill('SIGTERM')
    const { code, stdout } = await engine.ended
    expect(code).toBe(0)
    expect(stdout).toContain('SIGTERM: waiting up to 30s for 1 run (slow); a second signal stops immediately')
    expect(stdout).toMatch(/│ slow {2}slow ends\n.*✓ slow {2}done in [^\n]*\nstopped\n$/)
  })

  it('releases runs that do not finish within the grace period, and the next start performs them', async () => {
    const cwd = app({ jobs, triggers: { endless: { job: 'endless', at: '2026-01-01T00:00:00Z' } } })
    const engine = up(['--grace', '10ms'], { cwd })
    await engine.said('endless begins')
    engine.child.kill('SIGTERM')
    const { code, stdout } = await engine.ended
    expect(code).toBe(0)
    expect(stdout).toMatch(/↻ endless {2}released after .*; runs again elsewhere/)
    const second = up([], { cwd })
    await second.said(/▸ endless {2}started, .*attempt 2/)
    await second.said('endless begins')
    second.child.kill('SIGTERM')
    await second.said('a second signal stops immediately')
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(143)
  })

  it('a second signal stops immediately and kills running commands', async () => {
    const talks =
      'console.log("deaf as " + process.pid); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
    const cwd = app({
      jobs: { deaf: { command: ['node', '-e', talks] } },
      triggers: { once: { job: 'deaf', at: '2026-01-01T00:00:00Z' } },
    })
    const engine = up([], { cwd })
    const said = await engine.said(/deaf as \d+/)
    const pid = Number(/deaf as (\d+)/.exec(said)?.[1])
    engine.child.kill('SIGTERM')
    await engine.said('SIGTERM')
    engine.child.kill('SIGTERM')
    expect((await engine.ended).code).toBe(143)
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('after a kill continues with everything, and says since when nothing ran', async () => {
    const cwd = app({ jobs, triggers: { tick: { job: 'greet', cron: '* * * * * *' } } })
    const engine = up([], { cwd })
    await engine.said(/✓ tick/)
    engine.child.kill('SIGKILL')
    await engine.ended
    const second = up([], { cwd })
    await second.said(/✓ tick/)
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
    const [coverage, why] = await Promise.all([
      rota(['coverage', '--json'], { cwd }),
      rota(['why', 'tick', '-1m', '--json'], { cwd }),
    ])
    expect(coverage.code).toBe(0)
    expect(JSON.parse(coverage.stdout)).toMatchObject({ complete: true, triggers: [{ unexplainedCount: 0 }] })
    const { explanations } = JSON.parse(why.stdout) as { explanations: { kind: string }[] }
    expect(explanations.map(({ kind }) => kind)).not.toContain('unexplained')
  })

  it('obeys the kill switches of the environment before it opens anything', async () => {
    const cwd = emptyDirectory()
    const by = (env: Record<string, string>, ...args: string[]) => rota(['up', ...args], { cwd, env })
    const [pipeline, both, one, wrong] = await Promise.all([
      by({ PIPELINE_ENABLED: 'Off' }),
      by({ SCHEDULER_ENABLED: '0', WORKER_ENABLED: 'no' }),
      by({ WORKER_ENABLED: 'disabled' }, '--roles', 'worker'),
      by({ PIPELINE_ENABLED: 'off', WORKER_ENABLED: 'perhaps' }),
    ])
    expect(pipeline).toEqual({
      code: 0,
      stdout: '',
      stderr: 'PIPELINE_ENABLED is off: nothing was read, written or started\n',
    })
    expect(both).toEqual({
      code: 0,
      stdout: '',
      stderr: 'SCHEDULER_ENABLED and WORKER_ENABLED are off: nothing was started\n',
    })
    expect(one).toEqual({ code: 0, stdout: '', stderr: 'WORKER_ENABLED is off: nothing was started\n' })
    expect(wrong).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('[SWITCH_INVALID]') as unknown,
    })
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  })

  it('runs only its roles that are not switched off', async () => {
    const cwd = app({ jobs, triggers: { hello: { job: 'greet', at: '2026-01-01T00:00:00Z' } } })
    const engine = up([], { cwd, env: { WORKER_ENABLED: 'off' } })
    await engine.said('  scheduler; 4 jobs')
    await engine.said('Ctrl-C')
    engine.child.kill('SIGTERM')
    expect((await engine.ended).code).toBe(0)
    const { stdout } = await rota(['runs', '--json'], { cwd })
    for (const run of JSON.parse(stdout) as { state: string }[]) expect(run.state).toBe('pending')
  })

  it.each([
    [['--role', 'scheduler,worker'], 'scheduler and worker'],
    [['--role', 'worker', '--role', 'scheduler, worker'], 'scheduler and worker'],
    [['--role', 'worker'], 'worker'],
    [['--roles', 'scheduler'], 'scheduler'],
  ])('has the roles that it is given: %j', async (args, told) => {
    const engine = up(args, { cwd: app({ jobs }) })
    await engine.said(`\n  ${told}; 4 jobs`)
    engine.child.kill('SIGTERM')
    expect((await engine.ended).code).toBe(0)
  })

  it('refuses invalid options', async () => {
    const faulty = app({
      jobs: { a: { command: 'ls -l' } },
      triggers: { t: { job: 'a', cron: '61 * * * *' } },
    })
    const orphan = app({ triggers: { t: { job: 'nothing', every: '1m' } } })
    const [none, faults, unknown, roles, grace, ...others] = await Promise.all([
      rota(['up']),
      rota(['up'], { cwd: faulty }),
      rota(['up'], { cwd: orphan }),
      rota(['up', '--role', 'boss', '--role', 'worker,schedular'], { cwd: orphan }),
      rota(['up', '--grace', 'soon'], { cwd: orphan }),
      rota(['up', '--role', 'scheduler,'], { cwd: orphan }),
    ])
    for (const { code, stdout } of [none, faults, unknown, roles, grace, ...others])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(none.stderr).toMatch(
      /^error: there is no rota\.config\.\* in .*, and no store; `rota init` writes a config \[CONFIG_NOT_FOUND\]\n$/,
    )
    expect(faults.stderr).toMatch(
      /^error: .*rota\.config\.json has 2 faults \[CONFIG_INVALID\]\n {2}rota\.config\.json:1:\d+: jobs\.a\.command: .*\n {2}rota\.config\.json:1:\d+: triggers\.t\.cron: .*\n$/,
    )
    expect(unknown.stderr).toContain('triggers.t.job: no job is named nothing')
    expect(roles.stderr).toContain(
      '"boss" is not a role (allowed: scheduler, worker, api, or several with a comma)',
    )
    expect(roles.stderr).toContain('"schedular" is not a role (did you mean `scheduler`?)')
    const [empty] = others
    expect(empty?.stderr).toContain('"" is not a role')
    expect(grace.stderr).toContain('[DURATION_INVALID]')
  })

  it('accepts an app that a module exports, and exits with 70 after an uncaught error', async () => {
    const cwd = emptyDirectory()
    const index = new URL('../../dist/index.js', import.meta.url).href
    const code = `import { rota } from ${JSON.stringify(index)}
      const app = rota({ app: 'own', store: 'sqlite:own.db', directory: import.meta.dirname, lease: '1s' })
      const job = app.job('odd', () => undefined)
      app.schedule('odd', { job, at: '2026-01-01T00:00:00Z' })
      app.on('run:ended', () => setImmediate(() => Promise.reject(new Error('nobody catches me'))))
      export default app`
    writeFileSync(join(cwd, 'rota.config.mjs'), code)
    const other = await rota(['up', '--store', 'sqlite:other.db'], { cwd })
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be given sqlite:') as unknown,
    })
    const engine = up([], { cwd })
    const { code: exitCode, stdout } = await engine.ended
    expect(exitCode).toBe(70)
    expect(stdout).toContain(
      'an uncaught error that belongs to no run and no sensor: nobody catches me [INTERNAL]; stopping',
    )
  })
})

describe('rota runs --watch', () => {
  it('prints every change until it is interrupted', async () => {
    const cwd = app({ jobs })
    const engine = up([], { cwd })
    await engine.said('Ctrl-C')
    const watching = start(['runs', '--watch'], { cwd })
    running.add(watching)
    await watching.said('no runs yet; `rota run <job>` starts one')
    await rota(['run', 'greet'], { cwd })
    await watching.said(/\w{16} {2}done +greet/)
    watching.child.kill('SIGINT')
    expect((await watching.ended).code).toBe(130)
    engine.child.kill('SIGTERM')
    await engine.ended
  })
})
